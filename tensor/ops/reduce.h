// reduce.h -- internal to ops/: sums and maxima with explicit lanes, so that a compiler vectorises
// them without reordering anything, and the result does not depend on the thread count.
#ifndef TENSOR_OPS_REDUCE_H
#define TENSOR_OPS_REDUCE_H

#include "tensor/ops/elementwise.h"

enum { REDUCE_LANES = 16, REDUCE_WIDE = 64 };
enum { REDUCE_FEW = 512, REDUCE_CHUNK = 1024, REDUCE_BLOCK = 4096 }; // numbers added together
enum { REDUCE_TILE = 256, REDUCE_ROWS = 64 };

// lane (lanes) to lane[0], in pairs
MATH_INLINE float reduce_pairs(float *lane, int lanes) {
    for (int half = lanes / 2; half > 0; half /= 2)
        for (int k = 0; k < half; k++) lane[k] += lane[k + half];
    return lane[0];
}

// x (n), n a multiple of 64, in as many lanes, which keep an adder busy. Each 1,024 are summed by
// themselves: a number is added to 15 others, and what they come to to that of other chunks.
MATH_INLINE float reduce_chunks(const float *x, int64_t n) {
    float lane[REDUCE_WIDE] = {0};
    for (int64_t i = 0; i < n;) {
        float part[REDUCE_WIDE] = {0};
        int64_t end = n - i < REDUCE_CHUNK ? n : i + REDUCE_CHUNK;
        for (; i < end; i += REDUCE_WIDE)
            for (int k = 0; k < REDUCE_WIDE; k++) part[k] += x[i + k];
        for (int k = 0; k < REDUCE_WIDE; k++) lane[k] += part[k];
    }
    return reduce_pairs(lane, REDUCE_WIDE);
}

// x (n), few, in 16 lanes
MATH_INLINE float reduce_few(const float *x, int64_t n) {
    float lane[REDUCE_LANES] = {0};
    int64_t i = 0;
    for (; i + REDUCE_LANES <= n; i += REDUCE_LANES)
        for (int k = 0; k < REDUCE_LANES; k++) lane[k] += x[i + k];
    for (int k = 0; i + k < n; k++) lane[k] += x[i + k];
    return reduce_pairs(lane, REDUCE_LANES);
}

// In one pass; no number is added to many others in a row, so long sums stay accurate, those of
// numbers of one sign, too: the blocks are added in double.
MATH_INLINE float reduce_sum(const float *x, int64_t n) {
    double total = 0.0;
    while (n >= REDUCE_FEW) {
        int64_t block = n < REDUCE_BLOCK ? n - n % REDUCE_WIDE : REDUCE_BLOCK;
        total += (double)reduce_chunks(x, block);
        x += block;
        n -= block;
    }
    return (float)(n > 0 ? total + (double)reduce_few(x, n) : total);
}

// total[j] += the sum of x[i * step + j] over n rows i; at most REDUCE_TILE columns j. Up to 64
// rows are added in float, then their sums in double: long columns stay accurate at the speed of
// float.
MATH_INLINE void reduce_add_rows(double *total, const float *x, int64_t n, int64_t step,
                                 int64_t width) {
    for (int64_t i = 0; i < n; i += REDUCE_ROWS) {
        int64_t last = n - i < REDUCE_ROWS ? n : i + REDUCE_ROWS;
        float part[REDUCE_TILE];
        for (int64_t j = 0; j < width; j++) part[j] = x[i * step + j];
        for (int64_t k = i + 1; k < last; k++)
            for (int64_t j = 0; j < width; j++) part[j] += x[k * step + j];
        for (int64_t j = 0; j < width; j++) total[j] += (double)part[j];
    }
}

// The dot product, in lanes.
MATH_INLINE float reduce_dot(const float *x, const float *y, int64_t n) {
    float lane[REDUCE_LANES] = {0};
    int64_t i = 0;
    for (; i + REDUCE_LANES <= n; i += REDUCE_LANES)
        for (int k = 0; k < REDUCE_LANES; k++) lane[k] += x[i + k] * y[i + k];
    for (int k = 0; i + k < n; k++) lane[k] += x[i + k] * y[i + k];
    return reduce_pairs(lane, REDUCE_LANES);
}

// The largest, or the smallest, of n >= 1; NaN wins. Compared as integers that order like the
// floats they stand for, because compilers vectorise an integer maximum and not a float one that
// has to look for NaN.
MATH_INLINE float reduce_extreme(const float *x, int64_t n, bool smallest) {
    int32_t turn = smallest ? -1 : 0; // ~key orders the other way round
    int32_t best = INT32_MIN;
    int32_t nan = 0;
    for (int64_t i = 0; i < n; i++) {
        int32_t bits = (int32_t)math_to_bits(x[i]);
        int32_t key = bits ^ ((bits >> 31) & INT32_MAX) ^ turn; // negative floats order backwards
        best = key > best ? key : best;
        nan |= x[i] != x[i];
    }
    best ^= turn;
    float found = math_from_bits((uint32_t)(best ^ ((best >> 31) & INT32_MAX)));
    return nan ? __builtin_nanf("") : found;
}

MATH_INLINE float reduce_max(const float *x, int64_t n) { return reduce_extreme(x, n, false); }

// Row-wise ops: C, the size of the last dimension, and how many rows of it there are.
static inline int64_t row_length(const Tensor *t) {
    return t->shape.ndim ? t->shape.dims[t->shape.ndim - 1] : 1;
}
static inline int64_t row_count(const Tensor *t) {
    return row_length(t) ? t->numel / row_length(t) : 0;
}

// An op of rows along any dimension of x (rows.c): one that keeps the shape, and one that makes one
// number of each row, where DIM_ALL makes everything one.
Tensor *rows_run_along(const Op *op, const OpParams *params, Tensor *x, int dim);
Tensor *rows_reduce_along(const Op *op, const OpParams *params, Tensor *x, int dim, bool keep_dim);
// dim counted from 0; false: x has none such, and the op called `name` says so
bool rows_find_dim(const char *name, const Tensor *x, int dim, int *found);
Shape rows_shape(const Tensor *x); // x's, without its last dimension

#endif
