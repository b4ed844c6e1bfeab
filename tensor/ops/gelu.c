// gelu.c -- Gaussian error linear unit, x Phi(x): gelu exactly, by erf, and gelu_tanh by the tanh
// approximation (Hendrycks and Gimpel 2016).
#include "tensor/ops/elementwise.h"

// ---- gelu: 0.5 x (1 + erf(x sqrt(1/2))) --------------------------------------------------------
Tensor *tensor_gelu(Tensor *x) { return OP_RUN(op_gelu, NULL, x); }

KERNEL static void gelu_row(const float *x, float *y, int64_t n, const OpParams *params) {
    (void)params;
    for (int64_t i = 0; i < n; i++) y[i] = math_gelu(x[i]);
}

static Status gelu_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    return OP_INTO(&grad_in[0], op_gelu_backward, NULL, grad_out[0], saved->in[0]);
}

KERNEL static Status gelu_backward_cpu(const OpCall *call, int64_t begin, int64_t end) {
    return gradient_range(call, begin, end, math_gelu_backward);
}

const Op op_gelu = {.id = OP_gelu,
                    .name = "gelu",
                    .module = "GELU",
                    ELEMENTWISE_UNARY,
                    .row = gelu_row,
                    .backward = gelu_backward,
                    .saves = save_input,
                    .story = STORY(.formula = "y = 0.5 x (1 + erf(x c)), c the root of 1/2",
                                   .out = "y", .in = {"x"}, .elementwise = {PER_OUTPUT, .each = 4},
                                   .transcendental = {PER_OUTPUT, .each = 1}, .keeps = KEEP_X,
                                   .kind = KIND_RECTIFIER)};
const Op op_gelu_backward = {
    .id = OP_gelu_backward,
    .name = "gelu_backward",
    .kernel = gelu_backward_cpu,
    ELEMENTWISE_BACKWARD,
    .story = STORY(.formula = "dx = dy (0.5 (1 + erf(x c)) + x k e^(-0.5 x x))", .out = "dx",
                   .in = {"dy", "x"}, .elementwise = {PER_OUTPUT, .each = 9},
                   .transcendental = {PER_OUTPUT, .each = 2})};

// ---- gelu_tanh: 0.5 x (1 + tanh(k (x + a x^3))) ------------------------------------------------
Tensor *tensor_gelu_tanh(Tensor *x) { return OP_RUN(op_gelu_tanh, NULL, x); }

KERNEL static void gelu_tanh_row(const float *x, float *y, int64_t n, const OpParams *params) {
    (void)params;
    for (int64_t i = 0; i < n; i++) y[i] = math_gelu_tanh(x[i]);
}

static Status gelu_tanh_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    return OP_INTO(&grad_in[0], op_gelu_tanh_backward, NULL, grad_out[0], saved->in[0]);
}

KERNEL static Status gelu_tanh_backward_cpu(const OpCall *call, int64_t begin, int64_t end) {
    return gradient_range(call, begin, end, math_gelu_tanh_backward);
}

const Op op_gelu_tanh = {.id = OP_gelu_tanh,
                         .name = "gelu_tanh",
                         .module = "GELU(tanh)",
                         ELEMENTWISE_UNARY,
                         .row = gelu_tanh_row,
                         .backward = gelu_tanh_backward,
                         .saves = save_input,
                         .story =
                             STORY(.formula = "y = 0.5 x (1 + tanh(k (x + a x^3)))", .out = "y",
                                   .in = {"x"}, .elementwise = {PER_OUTPUT, .each = 8},
                                   .transcendental = {PER_OUTPUT, .each = 1}, .keeps = KEEP_X,
                                   .kind = KIND_RECTIFIER)};
const Op op_gelu_tanh_backward = {
    .id = OP_gelu_tanh_backward,
    .name = "gelu_tanh_backward",
    .kernel = gelu_tanh_backward_cpu,
    ELEMENTWISE_BACKWARD,
    .story =
        STORY(.formula = "dx = dy (0.5 (1 + t) + 0.5 x (1 - t t) k (1 + 3a x x)), t the tanh in y",
              .out = "dx", .in = {"dy", "x"}, .elementwise = {PER_OUTPUT, .each = 17},
              .transcendental = {PER_OUTPUT, .each = 1})};
