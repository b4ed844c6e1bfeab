// leaves.h -- the usual begin of a gradient test, a leaf that wants a gradient, and its end, a sum
// as loss.
#ifndef TESTS_AUTOGRAD_LEAVES_H
#define TESTS_AUTOGRAD_LEAVES_H

#include "autograd/autograd.h"

// A leaf with all elements `value`, or with `values`; free it.
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
