// exp.c -- e^x
#include "tensor/ops/elementwise.h"

Tensor *tensor_exp(Tensor *x) { return OP_RUN(op_exp, NULL, x); }

KERNEL Status exp_cpu(const OpCall *call, int64_t begin, int64_t end) {
    const float *x = call_in(call, 0);
    float *y = call_out(call, 0);
    for (int64_t i = begin; i < end; i++) y[i] = math_exp(x[i]);
    return STATUS_OK;
}

// y = e^x is its own derivative.
static Status exp_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    return OP_INTO(&grad_in[0], op_mul, NULL, grad_out[0], saved->out[0]);
}

const Op op_exp = {.id = OP_exp,
                   .name = "exp",
                   ELEMENTWISE_UNARY,
                   .cost = COUNTED(cost_one_transcendental),
                   .backward = exp_backward,
                   .saves = save_output};
