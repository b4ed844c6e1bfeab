// recompute.h -- internal: a part of forward of which backward keeps the inputs, and which it runs
// again instead of reading what was inside (activation checkpointing; Chen et al. 2016). Layers are
// marked by layers/layer.h.
#ifndef AUTOGRAD_RECOMPUTE_H
#define AUTOGRAD_RECOMPUTE_H

#include "autograd/autograd.h"

enum { RECOMPUTE_RESULTS = 32 }; // the most that a part gives: bits of a node's flags

// Held by whoever made it and by each node that may run it.
typedef struct Recompute {
    // Fills `out`, which has room for RECOMPUTE_RESULTS.
    void (*run)(void *part, Tensor *const in[], int n_in, Tensor *out[]);
    // A number that tells whether the part is what it was: another one, and it is not run again.
    uint64_t (*state)(const void *part);
    void *part; // NULL: it is gone
    int holders;
} Recompute;

Recompute *recompute_new(Recompute of);  // one holder: the caller
void recompute_release(Recompute *self); // NULL is fine

// Runs the part. Where something would be recorded, its results have one node together that keeps
// the inputs, and what it read of other graphs beside them.
void recompute_forward(Recompute *self, Tensor *const in[], int n_in, Tensor *out[], int n_out);

#endif
