// product.h -- internal to ops/: what matmul and linear share.
#ifndef TENSOR_OPS_PRODUCT_H
#define TENSOR_OPS_PRODUCT_H

#include "tensor/op.h"

enum { MATMUL_TRANS_A = 1, MATMUL_TRANS_B = 2 }; // params.flags: of the last two dims as given

// (rows, last): all leading dims as one.
static inline Shape product_flat(const Tensor *t) {
    int64_t last = t->shape.dims[t->shape.ndim - 1], rows = 1;
    for (int i = 0; i < t->shape.ndim - 1; i++) rows *= t->shape.dims[i];
    return SHAPE(rows, last);
}

// Whether a BLAS, which counts in int, can do it, and whether outputs x k multiply-adds, and twice
// as many FLOPs, fit a count; else an error is pending.
static inline bool product_countable(const OpCall *call, int64_t m, int64_t n, int64_t k) {
    if (m > INT32_MAX || n > INT32_MAX || k > INT32_MAX) {
        op_error(call, STATUS_OVERFLOW,
                 "a product of %lld x %lld by %lld x %lld: sizes end at 2^31 - 1. HINT: slice it",
                 (long long)m, (long long)k, (long long)k, (long long)n);
        return false;
    }
    int64_t macs;
    if (!__builtin_mul_overflow(call_numel(call), k, &macs) && macs < INT64_MAX / 8) return true;
    op_error(call, STATUS_OVERFLOW, "more than 2^60 multiply-adds. HINT: a smaller batch");
    return false;
}

// t itself, or a dense copy when a product cannot read it where it lies (an expanded gradient).
Tensor *product_operand(Tensor *t);

#endif
