// tape.h -- internal to autograd/: the record that the tape keeps of each op, and its lifetime.
#ifndef AUTOGRAD_TAPE_H
#define AUTOGRAD_TAPE_H

#include "autograd/autograd.h"
#include "autograd/recompute.h"
#include "tensor/handle.h"

enum {
    NODE_INPUTS = 4,   // inputs stored in the node; an op with more has its own array
    SAVED_INPUTS = 16, // the bits of SAVE_IN; those of SAVE_OUT come after them
    NODE_SAVES = SAVED_INPUTS + OP_MAX_OUTPUTS, // maximum number of buffers that one node can save
};

typedef struct Saved { // a buffer that backward may read; its storage is retained
    Storage *storage;
    uint32_t version; // version when saved
    int place;        // its bit in SAVE_*
} Saved;

// The results of an op hold its node (Origin); through the inputs' handles, later ops hold it, too.
// It keeps storages, never the handles of its results: they would hold each other for ever.
typedef struct Node {
    Origin origin;                   // first member, so that an Origin can be cast to its node
    bool reached;                    // held by the current walk, which will visit it
    int n_saved;                     // number of buffers saved for its rule
    int site;                        // site of the layer it ran in
    uint64_t number;                 // number of nodes recorded before it
    Recompute *again;                // part of forward to run again instead of a rule; NULL: an op
    uint64_t state;                  // state of `again` at forward
    struct Node *previous, *next;    // on the tape, in the order they ran
    struct Node *waiting;            // in a list of nodes to free or to reuse
    Tensor *in[NODE_INPUTS], **many; // holds one reference each
    OpCall call;                     // out: borrowed. op NULL: already walked, and empty
    Tensor *grad[OP_MAX_OUTPUTS];    // gradient that has arrived for each result; owned
    Saved saved[NODE_INPUTS + OP_MAX_OUTPUTS], *many_saved;
} Node;

typedef struct SharedSave { // a storage that another tape saved first
    const Storage *storage;
    int saves; // number of nodes of this tape that keep it
} SharedSave;

typedef struct Tape {
    Recorder recorder; // first member, so that the context's recorder can be cast to its tape
    Node *last;        // the tape holds the nodes that can still be walked
    Node *free_nodes;
    int count;
    uint64_t recorded;  // number of nodes so far
    int light;          // > 0: nodes only record the graph and save nothing
    Node *running;      // the node whose rule runs
    uint64_t added;     // bit i: that rule added its gradient of in[i] in place
    SharedSave *shared; // always has room for one more node's
    int n_shared, shared_capacity;
    int64_t saved_bytes; // activations kept, each storage once
} Tape;

Tape *tape_current(void); // NULL when the context has none
// Releases everything that the node holds and takes it off its tape: it was walked, or is unused.
void node_spend(Node *node);

static inline Tensor **node_inputs(const Node *node) {
    return node->many ? node->many : (Tensor **)node->in;
}
static inline Saved *node_saved(const Node *node) {
    return node->many ? node->many_saved : (Saved *)node->saved;
}
// The input or the result at a bit of SAVE_*.
static inline Tensor *node_tensor(const Node *node, int place) {
    return place < SAVED_INPUTS ? node_inputs(node)[place] : node->call.out[place - SAVED_INPUTS];
}
// The node of this tape that made a tensor; NULL: a leaf, a constant, or from another tape.
static inline Node *node_of(const Tape *tape, const Tensor *t) {
    return t->origin && t->origin->recorder == &tape->recorder ? (Node *)t->origin : NULL;
}

// backward.c: marks a node to be walked, and holds it.
void walk_reach(Node *node, int *count);
// Extends the *count marked nodes to all nodes that lead to them, from number `first` on. Finds any
// obstacle to the walk here, before any gradient has changed.
Status walk_reach_all(const Tape *tape, Node *last, uint64_t first, int *count);
// Runs the rules of `count` marked nodes, from `last` back, and lets go of the nodes; while an
// error is pending, only lets go.
Status walk(Tape *tape, Node *last, int count, bool keep);

// recompute.c: runs the node's part of forward again, and walks back over it.
Status recompute_walk(Tape *tape, Node *node);

// rule.c: STATUS_STATE if a saved buffer was written in place since.
Status rule_check(const Node *node);
// Runs the node's rule on the gradients of its results, and delivers what it gives.
Status rule_run(Tape *tape, Node *node);

// deliver.c: delivers gradients.
// The leaf's gradient, if empty: a rule may write its result straight into this buffer.
Status deliver_destination(Tensor *leaf, Tensor **destination);
// Delivers the grad_in of the rule of `node`, each to its node or leaf.
Status deliver_all(Tape *tape, Node *node, Tensor *grad_in[]);
// Adds to the tensor's own gradient: of a leaf, or retained.
Status deliver_to_tensor(Tensor *tensor, Tensor *grad);
Tensor *deliver_so_far(Recorder *self, int input); // Recorder.gradient_so_far

#endif
