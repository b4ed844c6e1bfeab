// layer_norm.h -- internal to ops/: what the layer norm and its gradients share: rows that are the
// last dimensions of a tensor, and two sums over one of them at a time.
#ifndef TENSOR_OPS_LAYER_NORM_H
#define TENSOR_OPS_LAYER_NORM_H

#include "tensor/ops/reduce.h"

typedef struct NormRows {
    int64_t count, n; // rows of n elements; none when they are empty
} NormRows;

// params: shape = that of a row
static inline NormRows norm_rows_of(const Tensor *x, const OpParams *params) {
    NormRows rows = {.n = 1};
    for (int i = 0; i < params->shape.ndim; i++) rows.n *= params->shape.dims[i];
    rows.count = rows.n ? x->numel / rows.n : 0;
    return rows;
}

// Flag of layer_norm_backward_weight: dbias is wanted, too.
enum { NORM_WITH_BIAS = 1 };

typedef struct NormSums {
    double first, second;
} NormSums;
typedef struct NormTerm {
    float first, second;
} NormTerm;

// As reduce_sum, but of twice as many lanes: gcc vectorises two sums at once from there on.
enum { NORM_LANES = 32 };

// The sums of both parts of term(row, j) over n elements j: lanes, in blocks of REDUCE_BLOCK.
MATH_INLINE NormSums norm_sums(const void *row, int64_t n,
                               NormTerm (*term)(const void *, int64_t)) {
    NormSums sums = {0.0, 0.0};
    for (int64_t from = 0; from < n; from += REDUCE_BLOCK) {
        int64_t end = n - from < REDUCE_BLOCK ? n : from + REDUCE_BLOCK, i = from;
        float first[NORM_LANES] = {0}, second[NORM_LANES] = {0};
        for (; i + NORM_LANES <= end; i += NORM_LANES)
            for (int k = 0; k < NORM_LANES; k++) {
                NormTerm t = term(row, i + k);
                first[k] += t.first;
                second[k] += t.second;
            }
        for (int k = 0; i + k < end; k++) {
            NormTerm t = term(row, i + k);
            first[k] += t.first;
            second[k] += t.second;
        }
        for (int half = NORM_LANES / 2; half > 0; half /= 2)
            for (int k = 0; k < half; k++) {
                first[k] += first[k + half];
                second[k] += second[k + half];
            }
        sums.first += (double)first[0];
        sums.second += (double)second[0];
    }
    return sums;
}

#endif
