// slice_backward.c -- zeros of the sliced tensor's shape, with the gradient where the slice was
// params: dim, begin, step; size = the full shape (count dims)
#include <string.h>

#include "tensor/op.h"

static Status infer(OpCall *call) {
    Shape shape = {.ndim = call->params.count};
    for (int i = 0; i < shape.ndim; i++) shape.dims[i] = call->params.size[i];
    return op_output(call, 0, DTYPE_FLOAT32, shape);
}

Status slice_backward_cpu(const OpCall *call, int64_t begin, int64_t end) {
    (void)begin, (void)end;
    const OpParams *p = &call->params;
    const Tensor *out = call->out[0];
    const float *grad = call_in(call, 0);
    float *y = call_out(call, 0);
    int64_t outer = 1, inner = 1;
    for (int i = 0; i < p->dim; i++) outer *= out->shape[i];
    for (int i = p->dim + 1; i < out->ndim; i++) inner *= out->shape[i];
    int64_t full = out->shape[p->dim], count = call->in[0]->shape[p->dim];
    if (out->numel) memset(y, 0, (size_t)out->numel * sizeof(float));
    for (int64_t o = 0; o < outer; o++)
        for (int64_t k = 0; k < count; k++) {
            int64_t index = p->begin + k * p->step;
            memcpy(y + (o * full + index) * inner, grad + (o * count + k) * inner,
                   (size_t)inner * sizeof(float));
        }
    return STATUS_OK;
}

const Op op_slice_backward = {.id = OP_slice_backward,
                              .name = "slice_backward",
                              .min_inputs = 1,
                              .max_inputs = 1,
                              .dtypes = dtypes_float,
                              .n_dtypes = 1,
                              .infer = infer,
                              .cost = COUNTED(op_cost_traffic)};
