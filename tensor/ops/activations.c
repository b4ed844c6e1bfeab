// activations.c -- running an activation by its op; and those with a single formula: sigmoid, tanh,
// silu, three gelus, softplus, log_sigmoid, mish, softsign, tanhshrink. Others are in
// activations_piecewise.c and relu.c, which shows a complete op.
#include "tensor/ops/activations.h"

SMOOTH_LIST(ACTIVATION_LOOPS)

OpParams activation_params(const Op *activation) {
    OpParams params = {0};
    for (int i = 0; activation && i < OP_MAX_VALUES; i++)
        params.value[i] = activation->values[i].value;
    return params;
}

Tensor *tensor_activation(Tensor *x, const Op *activation) {
    if (!x)
        error_set(STATUS_INVALID_ARGUMENT,
                  "activation: there is no tensor (NULL). HINT: only the activation may be absent");
    if (activation && !activation->module)
        error_set(STATUS_INVALID_ARGUMENT, "activation: %s is not one. HINT: such as op_relu",
                  activation->name);
    if (error_pending() || !activation) return error_pending() ? NULL : x;
    OpParams params = activation_params(activation);
    return OP_RUN(*activation, &params, x);
}

// ---- sigmoid: y = 1 / (1 + e^-x), y' = y (1 - y) ------------------------------------------------
Tensor *tensor_sigmoid(Tensor *x) { return OP_RUN(op_sigmoid, NULL, x); }

const Op op_sigmoid = {ACTIVATION(sigmoid), .module = "Sigmoid", .infer = op_infer_same,
                       .saves = save_output,
                       .story = STORY(.formula = "y = 1 / (1 + e^-x)", .out = "y", .in = {"x"},
                                      .elementwise = {PER_OUTPUT, .each = 2},
                                      .transcendental = {PER_OUTPUT, .each = 1}, .keeps = KEEP_Y,
                                      .kind = KIND_OTHER_ACTIVATION)};
const Op op_sigmoid_backward = {ACTIVATION_BACKWARD(sigmoid),
                                .story = STORY(.formula = "dx = dy y (1 - y)", .out = "dx",
                                               .in = {"dy", "y"},
                                               .elementwise = {PER_OUTPUT, .each = 3})};

// ---- tanh: y' = 1 - y^2 -------------------------------------------------------------------------
Tensor *tensor_tanh(Tensor *x) { return OP_RUN(op_tanh, NULL, x); }

const Op op_tanh = {ACTIVATION(tanh), .module = "Tanh", .infer = op_infer_same,
                    .saves = save_output,
                    .story = STORY(.formula = "y = tanh(x)", .out = "y", .in = {"x"},
                                   .transcendental = {PER_OUTPUT, .each = 1}, .keeps = KEEP_Y,
                                   .kind = KIND_OTHER_ACTIVATION)};
const Op op_tanh_backward = {ACTIVATION_BACKWARD(tanh),
                             .story =
                                 STORY(.formula = "dx = dy (1 - y y)", .out = "dx",
                                       .in = {"dy", "y"}, .elementwise = {PER_OUTPUT, .each = 3})};

// ---- silu: x sigmoid(x), also called swish ------------------------------------------------------
Tensor *tensor_silu(Tensor *x) { return OP_RUN(op_silu, NULL, x); }

// x * (1 / (1 + e^-x)); backward is grad * (s * (1 + x * (1 - s))), s being the sigmoid: 5 after
// its 2 and an exp.
const Op op_silu = {ACTIVATION(silu), .module = "SiLU", .infer = op_infer_same, .saves = save_input,
                    .story = STORY(.formula = "y = x (1 / (1 + e^-x))", .out = "y", .in = {"x"},
                                   .elementwise = {PER_OUTPUT, .each = 3},
                                   .transcendental = {PER_OUTPUT, .each = 1}, .keeps = KEEP_X,
                                   .kind = KIND_RECTIFIER)};
const Op op_silu_backward = {
    ACTIVATION_BACKWARD(silu),
    .story = STORY(.formula = "dx = dy s (1 + x (1 - s)), s the sigmoid of x", .out = "dx",
                   .in = {"dy", "x"}, .elementwise = {PER_OUTPUT, .each = 7},
                   .transcendental = {PER_OUTPUT, .each = 1})};

// ---- gelu: x Phi(x) = 0.5 x (1 + erf(x sqrt(1/2))), Phi the normal distribution -----------------
Tensor *tensor_gelu(Tensor *x) { return OP_RUN(op_gelu, NULL, x); }

const Op op_gelu = {ACTIVATION(gelu),
                    .module = "GELU",
                    .printed = "GELU(approximate='none')",
                    .infer = op_infer_same,
                    .saves = save_input,
                    .story = STORY(.formula = "y = 0.5 x (1 + erf(x c)), c the root of 1/2",
                                   .out = "y", .in = {"x"}, .elementwise = {PER_OUTPUT, .each = 4},
                                   .transcendental = {PER_OUTPUT, .each = 1}, .keeps = KEEP_X,
                                   .kind = KIND_RECTIFIER)};
const Op op_gelu_backward = {
    ACTIVATION_BACKWARD(gelu),
    .story = STORY(.formula = "dx = dy (0.5 (1 + erf(x c)) + x k e^(-0.5 x x))", .out = "dx",
                   .in = {"dy", "x"}, .elementwise = {PER_OUTPUT, .each = 9},
                   .transcendental = {PER_OUTPUT, .each = 2})};

// ---- gelu_tanh: 0.5 x (1 + tanh(k (x + a x^3))) (Hendrycks and Gimpel 2016) ---------------------
Tensor *tensor_gelu_tanh(Tensor *x) { return OP_RUN(op_gelu_tanh, NULL, x); }

const Op op_gelu_tanh = {ACTIVATION(gelu_tanh),
                         .module = "GELU(tanh)",
                         .printed = "GELU(approximate='tanh')",
                         .infer = op_infer_same,
                         .saves = save_input,
                         .story =
                             STORY(.formula = "y = 0.5 x (1 + tanh(k (x + a x^3)))", .out = "y",
                                   .in = {"x"}, .elementwise = {PER_OUTPUT, .each = 8},
                                   .transcendental = {PER_OUTPUT, .each = 1}, .keeps = KEEP_X,
                                   .kind = KIND_RECTIFIER)};
const Op op_gelu_tanh_backward = {
    ACTIVATION_BACKWARD(gelu_tanh),
    .story =
        STORY(.formula = "dx = dy (0.5 (1 + t) + 0.5 x (1 - t t) k (1 + 3a x x)), t the tanh in y",
              .out = "dx", .in = {"dy", "x"}, .elementwise = {PER_OUTPUT, .each = 17},
              .transcendental = {PER_OUTPUT, .each = 1})};

// ---- quick_gelu: x sigmoid(k x) (the same paper) ------------------------------------------------
Tensor *tensor_quick_gelu(Tensor *x) { return OP_RUN(op_quick_gelu, NULL, x); }

const Op op_quick_gelu = {ACTIVATION(quick_gelu), .module = "QuickGELU", .infer = op_infer_same,
                          .saves = save_input,
                          .story = STORY(.formula = "y = x (1 / (1 + e^(-1.702 x)))", .out = "y",
                                         .in = {"x"}, .elementwise = {PER_OUTPUT, .each = 4},
                                         .transcendental = {PER_OUTPUT, .each = 1}, .keeps = KEEP_X,
                                         .kind = KIND_OTHER_ACTIVATION)};
const Op op_quick_gelu_backward = {
    ACTIVATION_BACKWARD(quick_gelu),
    .story = STORY(.formula = "dx = dy s (1 + z (1 - s)), z = 1.702 x, s its sigmoid", .out = "dx",
                   .in = {"dy", "x"}, .elementwise = {PER_OUTPUT, .each = 8},
                   .transcendental = {PER_OUTPUT, .each = 1})};

// ---- softplus: log(1 + e^(beta x)) / beta, and x where beta x is above a threshold --------------
Tensor *tensor_softplus(Tensor *x, float beta, float threshold) {
    return OP_RUN(op_softplus, (&(OpParams){.value = {beta, threshold}}), x);
}

const Op op_softplus = {ACTIVATION(softplus),
                        .module = "Softplus",
                        .values = {{"beta", 1.0f}, {"threshold", 20.0f}},
                        .infer = op_infer_same,
                        .saves = save_input,
                        .story =
                            STORY(.formula = "y = log(1 + e^(b x)) / b, but x where b x > t",
                                  .out = "y", .in = {"x"}, .elementwise = {PER_OUTPUT, .each = 4},
                                  .transcendental = {PER_OUTPUT, .each = 2}, .keeps = KEEP_X,
                                  .kind = KIND_OTHER_ACTIVATION)};
const Op op_softplus_backward = {
    ACTIVATION_BACKWARD(softplus),
    .story = STORY(.formula = "dx = dy / (1 + e^(-b x)), but dy where b x > t", .out = "dx",
                   .in = {"dy", "x"}, .elementwise = {PER_OUTPUT, .each = 4},
                   .transcendental = {PER_OUTPUT, .each = 1})};

// ---- log_sigmoid ------------------------------------------------------------------------------
Tensor *tensor_log_sigmoid(Tensor *x) { return OP_RUN(op_log_sigmoid, NULL, x); }

const Op op_log_sigmoid = {ACTIVATION(log_sigmoid), .module = "LogSigmoid", .infer = op_infer_same,
                           .saves = save_input,
                           .story = STORY(.formula = "y = -log(1 + e^-x)", .out = "y", .in = {"x"},
                                          .elementwise = {PER_OUTPUT, .each = 1},
                                          .transcendental = {PER_OUTPUT, .each = 2},
                                          .keeps = KEEP_X, .kind = KIND_OTHER_ACTIVATION)};
const Op op_log_sigmoid_backward = {ACTIVATION_BACKWARD(log_sigmoid),
                                    .story = STORY(.formula = "dx = dy / (1 + e^x)", .out = "dx",
                                                   .in = {"dy", "x"},
                                                   .elementwise = {PER_OUTPUT, .each = 2},
                                                   .transcendental = {PER_OUTPUT, .each = 1})};

// ---- mish: x tanh(softplus(x)) (Misra 2019) -----------------------------------------------------
Tensor *tensor_mish(Tensor *x) { return OP_RUN(op_mish, NULL, x); }

// Counts for the slope: 2 for s and 1 in t, then 6.
const Op op_mish = {ACTIVATION(mish), .module = "Mish", .infer = op_infer_same, .saves = save_input,
                    .story = STORY(.formula = "y = x tanh(log(1 + e^x))", .out = "y", .in = {"x"},
                                   .elementwise = {PER_OUTPUT, .each = 2},
                                   .transcendental = {PER_OUTPUT, .each = 3}, .keeps = KEEP_X,
                                   .kind = KIND_OTHER_ACTIVATION)};
const Op op_mish_backward = {
    ACTIVATION_BACKWARD(mish),
    .story = STORY(.formula = "dx = dy (t + x s (1 - t t)), t the tanh in y, s the sigmoid of x",
                   .out = "dx", .in = {"dy", "x"}, .elementwise = {PER_OUTPUT, .each = 9},
                   .transcendental = {PER_OUTPUT, .each = 4})};

// ---- softsign: x / (1 + |x|) --------------------------------------------------------------------
Tensor *tensor_softsign(Tensor *x) { return OP_RUN(op_softsign, NULL, x); }

const Op op_softsign = {ACTIVATION(softsign), .module = "Softsign", .infer = op_infer_same,
                        .saves = save_input,
                        .story = STORY(.formula = "y = x / (1 + |x|)", .out = "y", .in = {"x"},
                                       .elementwise = {PER_OUTPUT, .each = 3}, .keeps = KEEP_X,
                                       .kind = KIND_OTHER_ACTIVATION)};
const Op op_softsign_backward = {ACTIVATION_BACKWARD(softsign),
                                 .story = STORY(.formula = "dx = dy / ((1 + |x|) (1 + |x|))",
                                                .out = "dx", .in = {"dy", "x"},
                                                .elementwise = {PER_OUTPUT, .each = 4})};

// ---- tanhshrink: x - tanh(x) --------------------------------------------------------------------
Tensor *tensor_tanhshrink(Tensor *x) { return OP_RUN(op_tanhshrink, NULL, x); }

const Op op_tanhshrink = {ACTIVATION(tanhshrink), .module = "Tanhshrink", .infer = op_infer_same,
                          .saves = save_input,
                          .story = STORY(.formula = "y = x - tanh(x)", .out = "y", .in = {"x"},
                                         .elementwise = {PER_OUTPUT, .each = 1},
                                         .transcendental = {PER_OUTPUT, .each = 1}, .keeps = KEEP_X,
                                         .kind = KIND_OTHER_ACTIVATION)};
const Op op_tanhshrink_backward = {ACTIVATION_BACKWARD(tanhshrink),
                                   .story = STORY(.formula = "dx = dy t t, t the tanh of x",
                                                  .out = "dx", .in = {"dy", "x"},
                                                  .elementwise = {PER_OUTPUT, .each = 2},
                                                  .transcendental = {PER_OUTPUT, .each = 1})};
