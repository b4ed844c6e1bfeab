// reduce.h -- internal to ops/: sums and maxima with explicit lanes, so that a compiler vectorises
// them without reordering anything, and the result does not depend on the thread count.
#ifndef TENSOR_OPS_REDUCE_H
#define TENSOR_OPS_REDUCE_H

#include "tensor/ops/elementwise.h"

enum { REDUCE_LANES = 16, REDUCE_WIDE = 64 };
enum { REDUCE_FEW = 512, REDUCE_CHUNK = 1024, REDUCE_BLOCK = 4096 }; // numbers added together
enum { REDUCE_TILE = 256, REDUCE_ROWS = 64 };

// Adds up lane (lanes) in pairs, into lane[0].
MATH_INLINE float reduce_pairs(float *lane, int lanes) {
    for (int half = lanes / 2; half > 0; half /= 2)
        for (int k = 0; k < half; k++) lane[k] += lane[k + half];
    return lane[0];
}

// Sums x (n), n a multiple of 64, in 64 lanes, which keep an adder busy. Each chunk of 1,024 is
// summed apart, 16 numbers per lane; then the lanes of all chunks are added.
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

// Sums a short x (n) in 16 lanes.
MATH_INLINE float reduce_few(const float *x, int64_t n) {
    float lane[REDUCE_LANES] = {0};
    int64_t i = 0;
    for (; i + REDUCE_LANES <= n; i += REDUCE_LANES)
        for (int k = 0; k < REDUCE_LANES; k++) lane[k] += x[i + k];
    for (int k = 0; i + k < n; k++) lane[k] += x[i + k];
    return reduce_pairs(lane, REDUCE_LANES);
}

// Sums in one pass. No number is added to many others in a row and blocks are added in double, so
// long sums stay accurate, even if all numbers have one sign.
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

// The largest, or the smallest, of n >= 1 elements; NaN wins. Compares integers in the order of
// their floats, because compilers vectorise an integer maximum, but not a float one that checks for
// NaN.
MATH_INLINE float reduce_extreme(const float *x, int64_t n, bool smallest) {
    int32_t turn = smallest ? -1 : 0; // ~key reverses the order
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

// For row-wise ops: size of the last dimension, and number of such rows.
static inline int64_t row_length(const Tensor *t) {
    return t->shape.ndim ? t->shape.dims[t->shape.ndim - 1] : 1;
}
static inline int64_t row_count(const Tensor *t) {
    return row_length(t) ? t->numel / row_length(t) : 0;
}

// Runs an op of rows along any dimension of x (rows.c): an op that keeps the shape, and one that
// reduces each row to one number; DIM_ALL reduces everything to one.
Tensor *rows_run_along(const Op *op, const OpParams *params, Tensor *x, int dim);
Tensor *rows_reduce_along(const Op *op, const OpParams *params, Tensor *x, int dim, bool keep_dim);
// *found counts dim from 0; false: x has no such dim, and an error for op `name` is pending.
bool rows_find_dim(const char *name, const Tensor *x, int dim, int *found);
Shape rows_shape(const Tensor *x); // x's shape without its last dimension

#endif
