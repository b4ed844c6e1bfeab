// recompute.h -- internal: a part of forward of which backward keeps only the inputs; it runs the
// part again instead of saving what is inside (activation checkpointing; Chen et al. 2016).
// layers/layer.h marks layers as such parts.
#ifndef AUTOGRAD_RECOMPUTE_H
#define AUTOGRAD_RECOMPUTE_H

#include "autograd/autograd.h"

enum { RECOMPUTE_RESULTS = 32 }; // maximum number of results of a part: bits of a node's flags

// Held by its maker and by each node that may run it.
typedef struct Recompute {
    // Fills `out`, which has room for RECOMPUTE_RESULTS.
    void (*run)(void *part, Tensor *const in[], int n_in, Tensor *out[]);
    // A number that changes with the part; after a change the part is not run again.
    uint64_t (*state)(const void *part);
    void *part; // NULL: the part is gone
    int holders;
} Recompute;

Recompute *recompute_new(Recompute of);  // one holder: the caller
void recompute_release(Recompute *self); // NULL is fine

// Runs the part. If recording is on, all its results share one node, which keeps the inputs and the
// tensors that the part read from other graphs.
void recompute_forward(Recompute *self, Tensor *const in[], int n_in, Tensor *out[], int n_out);

#endif
