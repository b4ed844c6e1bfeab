// contiguous.c -- copies a strided view into row-major order, whatever its element type
#include "tensor/ops/elementwise.h"
#include "tensor/ops/strided.h"

Tensor *tensor_contiguous(Tensor *x) {
    if (x && x->storage && tensor_is_contiguous(x)) return error_pending() ? NULL : x;
    return OP_RUN(op_contiguous, NULL, x);
}

Status contiguous_cpu(const OpCall *call, int64_t begin, int64_t end) {
    const Tensor *x = call->in[0];
    char *to = tensor_raw(call->out[0]);
    const char *from = tensor_raw(x);
    int64_t size = dtype_size(x->dtype), row = x->ndim ? x->shape[x->ndim - 1] : 1;
    int64_t step = x->ndim ? x->stride[x->ndim - 1] : 1;
    while (begin < end) {
        int64_t column = begin % row, rest = begin / row, n = row - column;
        if (n > end - begin) n = end - begin;
        int64_t offset = column * step;
        for (int d = x->ndim - 2; d >= 0; d--) {
            offset += rest % x->shape[d] * x->stride[d];
            rest /= x->shape[d];
        }
        strided_copy(to + begin * size, from + offset * size, n, step, size);
        begin += n;
    }
    return STATUS_OK;
}

static Status contiguous_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    (void)saved;
    grad_in[0] = grad_out[0];
    return STATUS_OK;
}

const Op op_contiguous = {.id = OP_contiguous,
                          .name = "contiguous",
                          .flags = OP_STRIDED,
                          .work = op_work_elements,
                          .min_inputs = 1,
                          .max_inputs = 1,
                          .dtypes = dtypes_any,
                          .n_dtypes = DTYPE_COUNT,
                          .infer = op_infer_same,
                          .cost = COUNTED(op_cost_traffic),
                          .backward = contiguous_backward};
