// leaves.h -- what most tests of gradients begin with, a leaf that wants one, and end with, a sum
// that is a loss.
#ifndef TESTS_AUTOGRAD_LEAVES_H
#define TESTS_AUTOGRAD_LEAVES_H

#include "autograd/autograd.h"

// Yours, all elements `value`, or with `values`.
static inline Tensor *leaf_new(Shape shape, float value) {
    Tensor *leaf = tensor_full_new(shape, value);
    tensor_requires_grad(leaf, true);
    return leaf;
}

static inline Tensor *leaf_from_floats_new(Shape shape, const float *values) {
    Tensor *leaf = tensor_from_floats_new(shape, values);
    tensor_requires_grad(leaf, true);
    return leaf;
}

static inline Tensor *total(Tensor *x) { return tensor_sum(x, DIM_ALL, false); }

#endif
