// tape.h -- internal to autograd/: what the tape remembers of each op, and its storage.
#ifndef AUTOGRAD_TAPE_H
#define AUTOGRAD_TAPE_H

#include "autograd/autograd.h"
#include "tensor/handle.h"

enum {
    NODE_INPUTS = 4,                  // kept in the node; an op with more has an array of its own
    NODE_SAVES = 16 + OP_MAX_OUTPUTS, // the most that one node can save: the bits of Node.saved
};

typedef struct Node {
    OpCall call;                                      // in: points at `in` below, or at `many`
    Tensor *in[NODE_INPUTS], **many;                  // a reference each; ownership too where saved
    uint32_t in_version[NODE_INPUTS], *many_versions; // of saved inputs, when they were saved
    uint32_t out_version[OP_MAX_OUTPUTS];
    Tensor *grad[OP_MAX_OUTPUTS]; // what has arrived for each output; owned
    unsigned saved;               // SAVE_IN / SAVE_OUT bits
    int site;                     // the layer it ran in
} Node;

typedef struct SharedSave { // a storage that another tape saved first
    const Storage *storage;
    int saves; // nodes of this tape that keep it
} SharedSave;

typedef struct Tape {
    Recorder recorder; // first: the context knows it by this
    Node *nodes;
    int count, capacity;
    SharedSave *shared; // always with room for one more node's
    int n_shared, shared_capacity;
    int64_t saved_bytes; // activations kept, each storage once
} Tape;

Tape *tape_current(void);    // NULL when the context has none
void tape_clear(Tape *tape); // drops every node; a new generation
void tape_drop_node(Tape *tape, Node *node);
static inline Tensor **node_inputs(const Node *node) {
    return node->many ? node->many : (Tensor **)node->in;
}
static inline uint32_t *node_versions(const Node *node) {
    return node->many ? node->many_versions : (uint32_t *)node->in_version;
}

#endif
