// topk.h -- internal to ops/ and cuda/: the order in which topk finds the elements of a row.
#ifndef TENSOR_OPS_TOPK_H
#define TENSOR_OPS_TOPK_H

#include <stdbool.h>

#include "tensor/math.h"

enum { TOPK_SMALLEST = 1 }; // flag of params

// Whether a at place i comes before b at place k. NaN is larger than all else, as in PyTorch;
// equals keep their order.
MATH_INLINE bool math_comes_before(float a, int64_t i, float b, int64_t k, bool smallest) {
    bool a_nan = a != a, b_nan = b != b;
    if (a_nan || b_nan) return a_nan && b_nan ? i < k : smallest ? b_nan : a_nan;
    if (a == b) return i < k;
    return smallest ? a < b : a > b;
}

MATH_INLINE bool math_whole_comes_before(int64_t a, int64_t i, int64_t b, int64_t k,
                                         bool smallest) {
    if (a == b) return i < k;
    return smallest ? a < b : a > b;
}

#endif
