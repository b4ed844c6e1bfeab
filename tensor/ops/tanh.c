// tanh.c -- hyperbolic tangent
#include "tensor/ops/elementwise.h"

Tensor *tensor_tanh(Tensor *x) { return OP_RUN(op_tanh, NULL, x); }

KERNEL Status tanh_cpu(const OpCall *call, int64_t begin, int64_t end) {
    const float *x = call_in(call, 0);
    float *y = call_out(call, 0);
    for (int64_t i = begin; i < end; i++) y[i] = math_tanh(x[i]);
    return STATUS_OK;
}

// y' = 1 - y^2
static Status tanh_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    return OP_INTO(&grad_in[0], op_tanh_backward, NULL, grad_out[0], saved->out[0]);
}

KERNEL Status tanh_backward_cpu(const OpCall *call, int64_t begin, int64_t end) {
    const float *grad = call_in(call, 0), *y = call_in(call, 1);
    float *out = call_out(call, 0);
    for (int64_t i = begin; i < end; i++) out[i] = grad[i] * (1.0f - y[i] * y[i]);
    return STATUS_OK;
}

static OpCost cost_three_flops(const OpCall *call) { return op_cost_elementwise(call, 3, 0); }

const Op op_tanh_backward = {.id = OP_tanh_backward,
                             .name = "tanh_backward",
                             ELEMENTWISE_BACKWARD,
                             .cost = COUNTED(cost_three_flops)};

const Op op_tanh = {.id = OP_tanh,
                    .name = "tanh",
                    ELEMENTWISE_UNARY,
                    .cost = COUNTED(cost_one_transcendental),
                    .backward = tanh_backward,
                    .saves = save_output};
