// sqrt.c -- square root; of a negative number NaN
#include "tensor/ops/elementwise.h"

Tensor *tensor_sqrt(Tensor *x) { return OP_RUN(op_sqrt, NULL, x); }

KERNEL Status sqrt_cpu(const OpCall *call, int64_t begin, int64_t end) {
    const float *x = call_in(call, 0);
    float *y = call_out(call, 0);
    for (int64_t i = begin; i < end; i++) y[i] = math_sqrt(x[i]);
    return STATUS_OK;
}

// dy/dx = 1 / 2y
static Status sqrt_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    Tensor *half = tensor_mul_scalar(grad_out[0], 0.5f);
    return half ? OP_INTO(&grad_in[0], op_div, NULL, half, saved->out[0]) : error_status();
}

const Op op_sqrt = {.id = OP_sqrt,
                    .name = "sqrt",
                    ELEMENTWISE_UNARY,
                    .cost = COUNTED(cost_one_transcendental),
                    .backward = sqrt_backward,
                    .saves = save_output};
