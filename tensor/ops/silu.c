// silu.c -- x * sigmoid(x), also called swish
#include "tensor/ops/elementwise.h"

Tensor *tensor_silu(Tensor *x) { return OP_RUN(op_silu, NULL, x); }

KERNEL Status silu_cpu(const OpCall *call, int64_t begin, int64_t end) {
    const float *x = call_in(call, 0);
    float *y = call_out(call, 0);
    for (int64_t i = begin; i < end; i++) y[i] = math_silu(x[i]);
    return STATUS_OK;
}

// x * (1 / (1 + e^-x))
static OpCost silu_cost(const OpCall *call) { return op_cost_elementwise(call, 3, 1); }

static Status silu_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    return OP_INTO(&grad_in[0], op_silu_backward, NULL, grad_out[0], saved->in[0]);
}

KERNEL Status silu_backward_cpu(const OpCall *call, int64_t begin, int64_t end) {
    const float *grad = call_in(call, 0), *x = call_in(call, 1);
    float *out = call_out(call, 0);
    for (int64_t i = begin; i < end; i++) out[i] = grad[i] * math_silu_derivative(x[i]);
    return STATUS_OK;
}

// grad * (s * (1 + x * (1 - s))), s the sigmoid again: 5 after its 2 and an exp
static OpCost silu_backward_cost(const OpCall *call) { return op_cost_elementwise(call, 7, 1); }

const Op op_silu_backward = {.id = OP_silu_backward,
                             .name = "silu_backward",
                             ELEMENTWISE_BACKWARD,
                             .cost = COUNTED(silu_backward_cost)};

const Op op_silu = {.id = OP_silu,
                    .name = "silu",
                    ELEMENTWISE_UNARY,
                    .cost = COUNTED(silu_cost),
                    .backward = silu_backward,
                    .saves = save_input};
