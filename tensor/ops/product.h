// product.h -- internal to ops/, and for CUDA: shared by matmul and linear.
#ifndef TENSOR_OPS_PRODUCT_H
#define TENSOR_OPS_PRODUCT_H

#include "tensor/op.h"

enum { MATMUL_TRANS_A = 1, MATMUL_TRANS_B = 2 }; // params.flags: swaps the last two dims

// The shape (rows, last), with all leading dims merged.
static inline Shape product_flat(const Tensor *t) {
    int64_t last = t->shape.dims[t->shape.ndim - 1], rows = 1;
    for (int i = 0; i < t->shape.ndim - 1; i++) rows *= t->shape.dims[i];
    return SHAPE(rows, last);
}

// True if the sizes fit the int of a BLAS, and outputs x k multiply-adds, and twice as many FLOPs,
// fit a count; otherwise an error is pending.
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

// Whether a matrix is stored as its transpose (dense columns, not rows); *ld is the distance
// between the dense rows or columns. A single row or column may have any stride.
static inline bool product_stored_transposed(const Tensor *t, int64_t *ld) {
    int64_t row = t->stride[t->shape.ndim - 2], column = t->stride[t->shape.ndim - 1];
    int64_t rows = t->shape.dims[t->shape.ndim - 2], columns = t->shape.dims[t->shape.ndim - 1];
    bool plain = column == 1 && (row >= columns || rows == 1);
    int64_t length = plain ? columns : rows, lines = plain ? rows : columns;
    *ld = plain ? row : column;
    if (lines == 1 || *ld < length) *ld = length;
    if (*ld < 1) *ld = 1;
    return !plain;
}

// Stride between indices of the output's batch dim `i`, counted from the last; 0 if the operand is
// broadcast.
static inline int64_t product_batch_step(const Tensor *t, int i) {
    bool shared = i >= t->shape.ndim - 2 || t->shape.dims[t->shape.ndim - 3 - i] == 1;
    return shared ? 0 : t->stride[t->shape.ndim - 3 - i];
}

// Offset of the matrix for batch `index`, counted over all batch dims of the output.
static inline int64_t product_batch_offset(const Tensor *t, const Tensor *out, int64_t index) {
    int64_t offset = 0;
    for (int i = 0; i < out->shape.ndim - 2; i++) {
        int64_t size = out->shape.dims[out->shape.ndim - 3 - i];
        offset += index % size * product_batch_step(t, i);
        index /= size;
    }
    return offset;
}

// t itself, or a dense copy if a product cannot read t in place (an expanded gradient).
Tensor *product_operand(Tensor *t);

#endif
