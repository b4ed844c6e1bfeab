// tape.h -- internal to autograd/: what the tape remembers of each op, and for how long.
#ifndef AUTOGRAD_TAPE_H
#define AUTOGRAD_TAPE_H

#include "autograd/autograd.h"
#include "autograd/recompute.h"
#include "tensor/handle.h"

enum {
    NODE_INPUTS = 4,   // kept in the node; an op with more has an array of its own
    SAVED_INPUTS = 16, // the bits of SAVE_IN; those of SAVE_OUT are behind them
    NODE_SAVES = SAVED_INPUTS + OP_MAX_OUTPUTS, // the most that one node can save
};

typedef struct Saved { // a buffer that backward may read; its storage is retained
    Storage *storage;
    uint32_t version; // when it was saved
    int place;        // its bit of SAVE_*
} Saved;

// Its results hold it (Origin), and so, through the inputs' handles, do the ops that read them. It
// keeps storages, never the handles of its results: they would hold each other for ever.
typedef struct Node {
    Origin origin;                   // first: a result knows its node by it
    bool reached;                    // by the walk that goes on: it holds it
    int n_saved;                     // buffers that it keeps for its rule
    int site;                        // the layer it ran in
    uint64_t number;                 // how many the tape recorded before it
    Recompute *again;                // has no rule, but is run again; NULL: an op
    uint64_t state;                  // of `again` when it ran
    struct Node *previous, *next;    // on the tape, in the order they ran
    struct Node *waiting;            // to be freed, or to be used again
    Tensor *in[NODE_INPUTS], **many; // a reference each
    OpCall call;                     // out: borrowed. op NULL: walked already, and nothing is left
    Tensor *grad[OP_MAX_OUTPUTS];    // what has arrived for each result; owned
    Saved saved[NODE_INPUTS + OP_MAX_OUTPUTS], *many_saved;
} Node;

typedef struct SharedSave { // a storage that another tape saved first
    const Storage *storage;
    int saves; // nodes of this tape that keep it
} SharedSave;

typedef struct Tape {
    Recorder recorder; // first: the context knows it by this
    Node *last;        // on the tape are the nodes that can still be walked
    Node *free_nodes;
    int count;
    uint64_t recorded;  // nodes so far
    int light;          // > 0: nodes are made, to know what leads where, and nothing is saved
    Node *running;      // whose rule runs
    uint64_t added;     // bit i: that rule added its gradient of in[i] to what was there
    SharedSave *shared; // always with room for one more node's
    int n_shared, shared_capacity;
    int64_t saved_bytes; // activations kept, each storage once
} Tape;

Tape *tape_current(void); // NULL when the context has none
// Lets go of all that the node knows, and takes it off its tape: it was walked, or nobody asks.
void node_spend(Node *node);

static inline Tensor **node_inputs(const Node *node) {
    return node->many ? node->many : (Tensor **)node->in;
}
static inline Saved *node_saved(const Node *node) {
    return node->many ? node->many_saved : (Saved *)node->saved;
}
// The input or the result that is at a bit of SAVE_*.
static inline Tensor *node_tensor(const Node *node, int place) {
    return place < SAVED_INPUTS ? node_inputs(node)[place] : node->call.out[place - SAVED_INPUTS];
}
// The node that a tensor comes from, on this tape; NULL: a leaf, a constant, another tape's.
static inline Node *node_of(const Tape *tape, const Tensor *t) {
    return t->origin && t->origin->recorder == &tape->recorder ? (Node *)t->origin : NULL;
}

// backward.c: marks a node as one to be walked, and holds it.
void walk_reach(Node *node, int *count);
// From the marked nodes, *count of them, to all that lead to them: those of number `first` and on.
// What would stop the walk is found here, before any gradient has changed.
Status walk_reach_all(const Tape *tape, Node *last, uint64_t first, int *count);
// Runs the rules of so many marked nodes, from `last` back, and lets go of them; only that while an
// error is pending.
Status walk(Tape *tape, Node *last, int count, bool keep);

// recompute.c: runs what the node stands for again, and walks back over it.
Status recompute_walk(Tape *tape, Node *node);

// rule.c: STATUS_STATE when a saved buffer was written in place since.
Status rule_check(const Node *node);
// The node's rule, from what has arrived for its results; and what it gives is delivered.
Status rule_run(Tape *tape, Node *node);

// deliver.c: a gradient goes to whoever waits for it.
// The buffer that a rule may write its result straight into, the leaf's gradient, while it is
// empty.
Status deliver_destination(Tensor *leaf, Tensor **destination);
// What the rule of `node` left in grad_in, each to its node or leaf.
Status deliver_all(Tape *tape, Node *node, Tensor *grad_in[]);
// To the tensor's own gradient: a leaf's, or one that is retained.
Status deliver_to_tensor(Tensor *tensor, Tensor *grad);
Tensor *deliver_so_far(Recorder *self, int input); // Recorder.gradient_so_far

#endif
