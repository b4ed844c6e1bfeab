// add_scalar.c -- x + s, the scalar in params.value[0]
#include "tensor/ops/elementwise.h"

Tensor *tensor_add_scalar(Tensor *x, float s) {
    return OP_RUN(op_add_scalar, (&(OpParams){.value = {s}}), x);
}

Tensor *tensor_sub_scalar(Tensor *x, float s) { return tensor_add_scalar(x, -s); }

KERNEL Status add_scalar_cpu(const OpCall *call, int64_t begin, int64_t end) {
    const float *x = call_in(call, 0), s = call->params.value[0];
    float *y = call_out(call, 0);
    for (int64_t i = begin; i < end; i++) y[i] = x[i] + s;
    return STATUS_OK;
}

static Status add_scalar_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    (void)saved;
    grad_in[0] = grad_out[0];
    return STATUS_OK;
}

const Op op_add_scalar = {.id = OP_add_scalar,
                          .name = "add_scalar",
                          ELEMENTWISE_UNARY,
                          .cost = COUNTED(cost_one_flop),
                          .backward = add_scalar_backward};
