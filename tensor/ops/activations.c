// activations.c -- sigmoid, tanh, silu and leaky_relu. The other activations are in relu.c, which
// shows an op whole, and in gelu.c.
#include "tensor/ops/elementwise.h"

// ---- sigmoid: y = 1 / (1 + e^-x), y' = y (1 - y) -----------------------------------------------
Tensor *tensor_sigmoid(Tensor *x) { return OP_RUN(op_sigmoid, NULL, x); }

KERNEL Status sigmoid_cpu(const OpCall *call, int64_t begin, int64_t end) {
    unary_range(call, begin, end, math_sigmoid);
    return STATUS_OK;
}

static Status sigmoid_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    return OP_INTO(&grad_in[0], op_sigmoid_backward, NULL, grad_out[0], saved->out[0]);
}

KERNEL Status sigmoid_backward_cpu(const OpCall *call, int64_t begin, int64_t end) {
    gradient_range(call, begin, end, math_sigmoid_backward);
    return STATUS_OK;
}

static OpCost sigmoid_cost(const OpCall *call) { return op_cost_elementwise(call, 2, 1); }
static OpCost cost_three_flops(const OpCall *call) { return op_cost_elementwise(call, 3, 0); }

const Op op_sigmoid = {.id = OP_sigmoid,
                       .name = "sigmoid",
                       ELEMENTWISE_UNARY,
                       .cost = COUNTED(sigmoid_cost),
                       .backward = sigmoid_backward,
                       .saves = save_output};
const Op op_sigmoid_backward = {.id = OP_sigmoid_backward,
                                .name = "sigmoid_backward",
                                ELEMENTWISE_BACKWARD,
                                .cost = COUNTED(cost_three_flops)};

// ---- tanh: y' = 1 - y^2 ------------------------------------------------------------------------
Tensor *tensor_tanh(Tensor *x) { return OP_RUN(op_tanh, NULL, x); }

KERNEL Status tanh_cpu(const OpCall *call, int64_t begin, int64_t end) {
    unary_range(call, begin, end, math_tanh);
    return STATUS_OK;
}

static Status tanh_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    return OP_INTO(&grad_in[0], op_tanh_backward, NULL, grad_out[0], saved->out[0]);
}

KERNEL Status tanh_backward_cpu(const OpCall *call, int64_t begin, int64_t end) {
    gradient_range(call, begin, end, math_tanh_backward);
    return STATUS_OK;
}

const Op op_tanh = {.id = OP_tanh,
                    .name = "tanh",
                    ELEMENTWISE_UNARY,
                    .cost = COUNTED(cost_one_transcendental),
                    .backward = tanh_backward,
                    .saves = save_output};
const Op op_tanh_backward = {.id = OP_tanh_backward,
                             .name = "tanh_backward",
                             ELEMENTWISE_BACKWARD,
                             .cost = COUNTED(cost_three_flops)};

// ---- silu: x sigmoid(x), also called swish -----------------------------------------------------
Tensor *tensor_silu(Tensor *x) { return OP_RUN(op_silu, NULL, x); }

KERNEL Status silu_cpu(const OpCall *call, int64_t begin, int64_t end) {
    unary_range(call, begin, end, math_silu);
    return STATUS_OK;
}

static Status silu_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    return OP_INTO(&grad_in[0], op_silu_backward, NULL, grad_out[0], saved->in[0]);
}

KERNEL Status silu_backward_cpu(const OpCall *call, int64_t begin, int64_t end) {
    gradient_range(call, begin, end, math_silu_backward);
    return STATUS_OK;
}

// x * (1 / (1 + e^-x)); backward grad * (s * (1 + x * (1 - s))), s the sigmoid again: 5 after its 2
// and an exp.
static OpCost silu_cost(const OpCall *call) { return op_cost_elementwise(call, 3, 1); }
static OpCost silu_backward_cost(const OpCall *call) { return op_cost_elementwise(call, 7, 1); }

const Op op_silu = {.id = OP_silu,
                    .name = "silu",
                    ELEMENTWISE_UNARY,
                    .cost = COUNTED(silu_cost),
                    .backward = silu_backward,
                    .saves = save_input};
const Op op_silu_backward = {.id = OP_silu_backward,
                             .name = "silu_backward",
                             ELEMENTWISE_BACKWARD,
                             .cost = COUNTED(silu_backward_cost)};

// ---- leaky_relu: x where it is positive, else params.value[0] * x -------------------------------
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
static OpCost leaky_relu_cost(const OpCall *call) { return op_cost_elementwise(call, 2, 0); }

const Op op_leaky_relu_backward = {.id = OP_leaky_relu_backward,
                                   .name = "leaky_relu_backward",
                                   ELEMENTWISE_BACKWARD,
                                   .cost = COUNTED(leaky_relu_cost)};

const Op op_leaky_relu = {.id = OP_leaky_relu,
                          .name = "leaky_relu",
                          ELEMENTWISE_UNARY,
                          .cost = COUNTED(leaky_relu_cost),
                          .backward = leaky_relu_backward,
                          .saves = save_input};
