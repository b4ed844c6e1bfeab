// mul_scalar.c -- x * s, or x / s: the scalar in params.value[0], flags: SCALAR_DIVIDES
#include "tensor/ops/elementwise.h"

enum { SCALAR_DIVIDES = 1 };

Tensor *tensor_mul_scalar(Tensor *x, float s) {
    return OP_RUN(op_mul_scalar, (&(OpParams){.value = {s}}), x);
}

Tensor *tensor_div_scalar(Tensor *x, float s) {
    return OP_RUN(op_mul_scalar, (&(OpParams){.value = {s}, .flags = SCALAR_DIVIDES}), x);
}

KERNEL Status mul_scalar_cpu(const OpCall *call, int64_t begin, int64_t end) {
    const float *x = call_in(call, 0), s = call->params.value[0];
    float *y = call_out(call, 0);
    if (call->params.flags & SCALAR_DIVIDES) // 1 / s, rounded or not to be had, is another number
        for (int64_t i = begin; i < end; i++) y[i] = x[i] / s;
    else
        for (int64_t i = begin; i < end; i++) y[i] = x[i] * s;
    return STATUS_OK;
}

static Status mul_scalar_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    return OP_INTO(&grad_in[0], op_mul_scalar, &saved->params, grad_out[0]);
}

const Op op_mul_scalar = {.id = OP_mul_scalar,
                          .name = "mul_scalar",
                          ELEMENTWISE_UNARY,
                          .cost = COUNTED(cost_one_flop),
                          .backward = mul_scalar_backward};
