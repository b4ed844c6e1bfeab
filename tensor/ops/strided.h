// strided.h -- internal to ops/: copies runs of elements of any size.
#ifndef TENSOR_OPS_STRIDED_H
#define TENSOR_OPS_STRIDED_H

#include <string.h>

#include "tensor/op.h"

// n elements of `size` bytes, `stride` elements apart, to adjacent places.
static inline void strided_copy(char *to, const char *from, int64_t n, int64_t stride,
                                int64_t size) {
    if (stride == 1) {
        memcpy(to, from, (size_t)(n * size));
    } else if (size == (int64_t)sizeof(float)) { // the common case: a loop over whole floats
        float *y = (float *)(void *)to;
        const float *x = (const float *)(const void *)from;
        for (int64_t i = 0; i < n; i++) y[i] = x[i * stride];
    } else {
        for (int64_t i = 0; i < n; i++)
            memcpy(to + i * size, from + i * stride * size, (size_t)size);
    }
}

#endif
