// sigmoid.c -- 1 / (1 + e^-x)
#include "tensor/ops/elementwise.h"

Tensor *tensor_sigmoid(Tensor *x) { return OP_RUN(op_sigmoid, NULL, x); }

KERNEL Status sigmoid_cpu(const OpCall *call, int64_t begin, int64_t end) {
    const float *x = call_in(call, 0);
    float *y = call_out(call, 0);
    for (int64_t i = begin; i < end; i++) y[i] = math_sigmoid(x[i]);
    return STATUS_OK;
}

// y' = y (1 - y)
static Status sigmoid_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    return OP_INTO(&grad_in[0], op_sigmoid_backward, NULL, grad_out[0], saved->out[0]);
}

KERNEL Status sigmoid_backward_cpu(const OpCall *call, int64_t begin, int64_t end) {
    const float *grad = call_in(call, 0), *y = call_in(call, 1);
    float *out = call_out(call, 0);
    for (int64_t i = begin; i < end; i++) out[i] = grad[i] * y[i] * (1.0f - y[i]);
    return STATUS_OK;
}

static OpCost cost_three_flops(const OpCall *call) { return op_cost_elementwise(call, 3, 0); }

const Op op_sigmoid_backward = {.id = OP_sigmoid_backward,
                                .name = "sigmoid_backward",
                                ELEMENTWISE_BACKWARD,
                                .cost = COUNTED(cost_three_flops)};

static OpCost sigmoid_cost(const OpCall *call) { return op_cost_elementwise(call, 2, 1); }

const Op op_sigmoid = {.id = OP_sigmoid,
                       .name = "sigmoid",
                       ELEMENTWISE_UNARY,
                       .cost = COUNTED(sigmoid_cost),
                       .backward = sigmoid_backward,
                       .saves = save_output};
