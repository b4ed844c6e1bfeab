// activations.c -- any activation by its op; sigmoid, tanh, silu, leaky_relu, gelu and gelu_tanh.
// relu is in relu.c, which shows an op whole.
#include "tensor/ops/elementwise.h"

OpParams activation_params(const Op *activation) {
    OpParams params = {0};
    for (int i = 0; activation && i < OP_MAX_VALUES; i++)
        params.value[i] = activation->values[i].value;
    return params;
}

Tensor *tensor_activation(Tensor *x, const Op *activation) {
    if (!x) error_set(STATUS_INVALID_ARGUMENT, "activation: there is no tensor (NULL)");
    if (activation && !activation->module)
        error_set(STATUS_INVALID_ARGUMENT, "activation: %s is none. HINT: such as op_relu",
                  activation->name);
    if (error_pending() || !activation) return error_pending() ? NULL : x;
    OpParams params = activation_params(activation);
    return OP_RUN(*activation, &params, x);
}

// ---- sigmoid: y = 1 / (1 + e^-x), y' = y (1 - y) -----------------------------------------------
Tensor *tensor_sigmoid(Tensor *x) { return OP_RUN(op_sigmoid, NULL, x); }

KERNEL static void sigmoid_row(const float *x, float *y, int64_t n, const OpParams *params) {
    (void)params;
    for (int64_t i = 0; i < n; i++) y[i] = math_sigmoid(x[i]);
}

static Status sigmoid_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    return OP_INTO(&grad_in[0], op_sigmoid_backward, NULL, grad_out[0], saved->out[0]);
}

KERNEL static Status sigmoid_backward_cpu(const OpCall *call, int64_t begin, int64_t end) {
    return gradient_range(call, begin, end, math_sigmoid_backward);
}

const Op op_sigmoid = {.id = OP_sigmoid,
                       .name = "sigmoid",
                       .module = "Sigmoid",
                       ELEMENTWISE_UNARY,
                       .row = sigmoid_row,
                       .backward = sigmoid_backward,
                       .saves = save_output,
                       .story = STORY(.formula = "y = 1 / (1 + e^-x)", .out = "y", .in = {"x"},
                                      .elementwise = {PER_OUTPUT, .each = 2},
                                      .transcendental = {PER_OUTPUT, .each = 1}, .keeps = KEEP_Y,
                                      .kind = KIND_OTHER_ACTIVATION)};
const Op op_sigmoid_backward = {.id = OP_sigmoid_backward,
                                .name = "sigmoid_backward",
                                .kernel = sigmoid_backward_cpu,
                                ELEMENTWISE_BACKWARD,
                                .story = STORY(.formula = "dx = dy y (1 - y)", .out = "dx",
                                               .in = {"dy", "y"},
                                               .elementwise = {PER_OUTPUT, .each = 3})};

// ---- tanh: y' = 1 - y^2 ------------------------------------------------------------------------
Tensor *tensor_tanh(Tensor *x) { return OP_RUN(op_tanh, NULL, x); }

KERNEL static void tanh_row(const float *x, float *y, int64_t n, const OpParams *params) {
    (void)params;
    for (int64_t i = 0; i < n; i++) y[i] = math_tanh(x[i]);
}

static Status tanh_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    return OP_INTO(&grad_in[0], op_tanh_backward, NULL, grad_out[0], saved->out[0]);
}

KERNEL static Status tanh_backward_cpu(const OpCall *call, int64_t begin, int64_t end) {
    return gradient_range(call, begin, end, math_tanh_backward);
}

const Op op_tanh = {.id = OP_tanh,
                    .name = "tanh",
                    .module = "Tanh",
                    ELEMENTWISE_UNARY,
                    .row = tanh_row,
                    .backward = tanh_backward,
                    .saves = save_output,
                    .story = STORY(.formula = "y = tanh(x)", .out = "y", .in = {"x"},
                                   .transcendental = {PER_OUTPUT, .each = 1}, .keeps = KEEP_Y,
                                   .kind = KIND_OTHER_ACTIVATION)};
const Op op_tanh_backward = {.id = OP_tanh_backward,
                             .name = "tanh_backward",
                             .kernel = tanh_backward_cpu,
                             ELEMENTWISE_BACKWARD,
                             .story =
                                 STORY(.formula = "dx = dy (1 - y y)", .out = "dx",
                                       .in = {"dy", "y"}, .elementwise = {PER_OUTPUT, .each = 3})};

// ---- silu: x sigmoid(x), also called swish -----------------------------------------------------
Tensor *tensor_silu(Tensor *x) { return OP_RUN(op_silu, NULL, x); }

KERNEL static void silu_row(const float *x, float *y, int64_t n, const OpParams *params) {
    (void)params;
    for (int64_t i = 0; i < n; i++) y[i] = math_silu(x[i]);
}

static Status silu_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    return OP_INTO(&grad_in[0], op_silu_backward, NULL, grad_out[0], saved->in[0]);
}

KERNEL static Status silu_backward_cpu(const OpCall *call, int64_t begin, int64_t end) {
    return gradient_range(call, begin, end, math_silu_backward);
}

// x * (1 / (1 + e^-x)); backward grad * (s * (1 + x * (1 - s))), s the sigmoid again: 5 after its 2
// and an exp.
const Op op_silu = {.id = OP_silu,
                    .name = "silu",
                    .module = "SiLU",
                    ELEMENTWISE_UNARY,
                    .row = silu_row,
                    .backward = silu_backward,
                    .saves = save_input,
                    .story = STORY(.formula = "y = x (1 / (1 + e^-x))", .out = "y", .in = {"x"},
                                   .elementwise = {PER_OUTPUT, .each = 3},
                                   .transcendental = {PER_OUTPUT, .each = 1}, .keeps = KEEP_X,
                                   .kind = KIND_RECTIFIER)};
const Op op_silu_backward = {
    .id = OP_silu_backward,
    .name = "silu_backward",
    .kernel = silu_backward_cpu,
    ELEMENTWISE_BACKWARD,
    .story = STORY(.formula = "dx = dy s (1 + x (1 - s)), s the sigmoid of x", .out = "dx",
                   .in = {"dy", "x"}, .elementwise = {PER_OUTPUT, .each = 7},
                   .transcendental = {PER_OUTPUT, .each = 1})};

// ---- leaky_relu: x where it is positive, else params.value[0] * x -------------------------------
Tensor *tensor_leaky_relu(Tensor *x, float slope) {
    return OP_RUN(op_leaky_relu, (&(OpParams){.value = {slope}}), x);
}

KERNEL static void leaky_relu_row(const float *x, float *y, int64_t n, const OpParams *params) {
    float slope = params->value[0];
    for (int64_t i = 0; i < n; i++) y[i] = math_leaky_relu(x[i], slope);
}

// The input is kept, not the output: a negative slope would hide which side x was on.
static Status leaky_relu_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    return OP_INTO(&grad_in[0], op_leaky_relu_backward, &saved->params, grad_out[0], saved->in[0]);
}

KERNEL static Status leaky_relu_backward_cpu(const OpCall *call, int64_t begin, int64_t end) {
    const float *grad = call_in(call, 0), *x = call_in(call, 1), slope = call->params.value[0];
    float *out = call_out(call, 0);
    for (int64_t i = begin; i < end; i++) out[i] = math_leaky_relu_backward(grad[i], x[i], slope);
    return STATUS_OK;
}

// A comparison and a product, forward and backward.
const Op op_leaky_relu_backward = {.id = OP_leaky_relu_backward,
                                   .name = "leaky_relu_backward",
                                   .kernel = leaky_relu_backward_cpu,
                                   ELEMENTWISE_BACKWARD,
                                   .story = STORY(.formula = "dx = dy where x > 0, else slope dy",
                                                  .out = "dx", .in = {"dy", "x"},
                                                  .elementwise = {PER_OUTPUT, .each = 2})};

const Op op_leaky_relu = {.id = OP_leaky_relu,
                          .name = "leaky_relu",
                          .module = "LeakyReLU",
                          .values = {{"negative_slope", 0.01f}},
                          ELEMENTWISE_UNARY,
                          .row = leaky_relu_row,
                          .backward = leaky_relu_backward,
                          .saves = save_input,
                          .story = STORY(.formula = "y = x where x > 0, else slope x", .out = "y",
                                         .in = {"x"}, .elementwise = {PER_OUTPUT, .each = 2},
                                         .keeps = KEEP_X, .kind = KIND_RECTIFIER)};

// ---- gelu: x Phi(x) = 0.5 x (1 + erf(x sqrt(1/2))), Phi the normal distribution ----------------
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
                    .printed = "GELU(approximate='none')",
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

// ---- gelu_tanh: 0.5 x (1 + tanh(k (x + a x^3))) (Hendrycks and Gimpel 2016) --------------------
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
                         .printed = "GELU(approximate='tanh')",
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
