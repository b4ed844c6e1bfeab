// leaky_relu.c -- x where it is positive, else params.value[0] * x
#include "tensor/ops/elementwise.h"

Tensor *tensor_leaky_relu(Tensor *x, float slope) {
    return OP_RUN(op_leaky_relu, (&(OpParams){.value = {slope}}), x);
}

KERNEL Status leaky_relu_cpu(const OpCall *call, int64_t begin, int64_t end) {
    const float *x = call_in(call, 0), slope = call->params.value[0];
    float *y = call_out(call, 0);
    for (int64_t i = begin; i < end; i++) y[i] = math_leaky_relu(x[i], slope);
    return STATUS_OK;
}

// The input is kept, not the output: a negative slope would hide which side x was on.
static Status leaky_relu_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    return OP_INTO(&grad_in[0], op_leaky_relu_backward, &saved->params, grad_out[0], saved->in[0]);
}

KERNEL Status leaky_relu_backward_cpu(const OpCall *call, int64_t begin, int64_t end) {
    const float *grad = call_in(call, 0), *x = call_in(call, 1), slope = call->params.value[0];
    float *out = call_out(call, 0);
    for (int64_t i = begin; i < end; i++) out[i] = math_leaky_relu_backward(grad[i], x[i], slope);
    return STATUS_OK;
}

// A comparison and a product, forward and backward.
static OpCost cost_two_flops(const OpCall *call) { return op_cost_elementwise(call, 2, 0); }

const Op op_leaky_relu_backward = {.id = OP_leaky_relu_backward,
                                   .name = "leaky_relu_backward",
                                   ELEMENTWISE_BACKWARD,
                                   .cost = COUNTED(cost_two_flops)};

const Op op_leaky_relu = {.id = OP_leaky_relu,
                          .name = "leaky_relu",
                          ELEMENTWISE_UNARY,
                          .cost = COUNTED(cost_two_flops),
                          .backward = leaky_relu_backward,
                          .saves = save_input};
