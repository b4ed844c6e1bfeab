// activations_piecewise.c -- activations defined piecewise: leaky_relu, relu6, hardtanh,
// hardsigmoid, hardswish, elu, selu, celu, softshrink, hardshrink, threshold.
#include "tensor/ops/activations.h"

PIECEWISE_LIST(ACTIVATION_LOOPS)

// ---- leaky_relu: x where it is positive, else params.value[0] * x -------------------------------
Tensor *tensor_leaky_relu(Tensor *x, float slope) {
    return OP_RUN(op_leaky_relu, (&(OpParams){.value = {slope}}), x);
}

// A comparison and a product, forward and backward. Saves the input, not the output: a negative
// slope would hide the sign of x.
const Op op_leaky_relu = {ACTIVATION(leaky_relu),
                          .module = "LeakyReLU",
                          .values = {{"negative_slope", 0.01f}},
                          .infer = op_infer_same,
                          .saves = save_input,
                          .story = STORY(.formula = "y = x where x > 0, else slope x", .out = "y",
                                         .in = {"x"}, .elementwise = {PER_OUTPUT, .each = 2},
                                         .keeps = KEEP_X, .kind = KIND_RECTIFIER)};
const Op op_leaky_relu_backward = {ACTIVATION_BACKWARD(leaky_relu),
                                   .story = STORY(.formula = "dx = dy where x > 0, else slope dy",
                                                  .out = "dx", .in = {"dy", "x"},
                                                  .elementwise = {PER_OUTPUT, .each = 2})};

// ---- relu6: x between 0 and 6 -------------------------------------------------------------------
Tensor *tensor_relu6(Tensor *x) { return OP_RUN(op_relu6, NULL, x); }

// A hardtanh, but its own layer in PyTorch, and DeepSpeed counts only this one.
const Op op_relu6 = {ACTIVATION(relu6), .module = "ReLU6", .infer = op_infer_same,
                     .saves = save_input,
                     .story = STORY(.formula = "y = x between 0 and 6", .out = "y", .in = {"x"},
                                    .elementwise = {PER_OUTPUT, .each = 2}, .keeps = KEEP_X,
                                    .kind = KIND_RECTIFIER)};
const Op op_relu6_backward = {ACTIVATION_BACKWARD(relu6),
                              .story =
                                  STORY(.formula = "dx = dy where 0 < x < 6, else 0", .out = "dx",
                                        .in = {"dy", "x"}, .elementwise = {PER_OUTPUT, .each = 2})};

// ---- hardtanh: x between params.value[0] and value[1] -------------------------------------------
Tensor *tensor_hardtanh(Tensor *x, float low, float high) {
    return OP_RUN(op_hardtanh, (&(OpParams){.value = {low, high}}), x);
}

static Status hardtanh_infer(OpCall *call) {
    float low = call->params.value[0], high = call->params.value[1];
    if (low <= high) return op_infer_same(call);
    return op_error(call, STATUS_INVALID_ARGUMENT,
                    "nothing lies between %g and %g. HINT: low <= high, neither NaN", (double)low,
                    (double)high);
}

const Op op_hardtanh = {ACTIVATION(hardtanh),
                        .module = "Hardtanh",
                        .values = {{"min_val", -1.0f}, {"max_val", 1.0f}},
                        .infer = hardtanh_infer,
                        .saves = save_input,
                        .story = STORY(.formula = "y = x between two bounds", .out = "y",
                                       .in = {"x"}, .elementwise = {PER_OUTPUT, .each = 2},
                                       .keeps = KEEP_X, .kind = KIND_OTHER_ACTIVATION)};
const Op op_hardtanh_backward = {ACTIVATION_BACKWARD(hardtanh),
                                 .story = STORY(.formula = "dx = dy between the bounds, else 0",
                                                .out = "dx", .in = {"dy", "x"},
                                                .elementwise = {PER_OUTPUT, .each = 2})};

// ---- hardsigmoid: relu6(x + 3) / 6 --------------------------------------------------------------
Tensor *tensor_hardsigmoid(Tensor *x) { return OP_RUN(op_hardsigmoid, NULL, x); }

const Op op_hardsigmoid = {ACTIVATION(hardsigmoid), .module = "Hardsigmoid", .infer = op_infer_same,
                           .saves = save_input,
                           .story = STORY(.formula = "y = (x + 3 between 0 and 6) / 6", .out = "y",
                                          .in = {"x"}, .elementwise = {PER_OUTPUT, .each = 4},
                                          .keeps = KEEP_X, .kind = KIND_OTHER_ACTIVATION)};
const Op op_hardsigmoid_backward = {
    ACTIVATION_BACKWARD(hardsigmoid),
    .story = STORY(.formula = "dx = dy / 6 where -3 < x < 3, else 0", .out = "dx",
                   .in = {"dy", "x"}, .elementwise = {PER_OUTPUT, .each = 3})};

// ---- hardswish: x hardsigmoid(x) (Howard et al. 2019) -------------------------------------------
Tensor *tensor_hardswish(Tensor *x) { return OP_RUN(op_hardswish, NULL, x); }

const Op op_hardswish = {ACTIVATION(hardswish), .module = "Hardswish", .infer = op_infer_same,
                         .saves = save_input,
                         .story = STORY(.formula = "y = x (x + 3 between 0 and 6) / 6", .out = "y",
                                        .in = {"x"}, .elementwise = {PER_OUTPUT, .each = 5},
                                        .keeps = KEEP_X, .kind = KIND_OTHER_ACTIVATION)};
const Op op_hardswish_backward = {
    ACTIVATION_BACKWARD(hardswish),
    .story = STORY(.formula = "dx = dy (x / 3 + 0.5) where -3 < x < 3, dy above, 0 below",
                   .out = "dx", .in = {"dy", "x"}, .elementwise = {PER_OUTPUT, .each = 5})};

// ---- elu: x where it is positive, else alpha (e^x - 1) ------------------------------------------
Tensor *tensor_elu(Tensor *x, float alpha) {
    return OP_RUN(op_elu, (&(OpParams){.value = {alpha}}), x);
}

const Op op_elu = {ACTIVATION(elu),
                   .module = "ELU",
                   .values = {{"alpha", 1.0f}},
                   .infer = op_infer_same,
                   .saves = save_input,
                   .story = STORY(.formula = "y = x where x > 0, else a (e^x - 1)", .out = "y",
                                  .in = {"x"}, .elementwise = {PER_OUTPUT, .each = 3},
                                  .transcendental = {PER_OUTPUT, .each = 1}, .keeps = KEEP_X,
                                  .kind = KIND_RECTIFIER)};
const Op op_elu_backward = {ACTIVATION_BACKWARD(elu),
                            .story =
                                STORY(.formula = "dx = dy where x > 0, else dy a e^x", .out = "dx",
                                      .in = {"dy", "x"}, .elementwise = {PER_OUTPUT, .each = 3},
                                      .transcendental = {PER_OUTPUT, .each = 1})};

// ---- selu: an elu of fixed alpha, times a fixed scale (Klambauer et al. 2017) -------------------
Tensor *tensor_selu(Tensor *x) { return OP_RUN(op_selu, NULL, x); }

// A comparison, and the counts of the longer case.
const Op op_selu = {ACTIVATION(selu), .module = "SELU", .infer = op_infer_same, .saves = save_input,
                    .story = STORY(.formula = "y = s x where x > 0, else k (e^x - 1)", .out = "y",
                                   .in = {"x"}, .elementwise = {PER_OUTPUT, .each = 3},
                                   .transcendental = {PER_OUTPUT, .each = 1}, .keeps = KEEP_X,
                                   .kind = KIND_OTHER_ACTIVATION)};
const Op op_selu_backward = {ACTIVATION_BACKWARD(selu),
                             .story = STORY(.formula = "dx = s dy where x > 0, else k dy e^x",
                                            .out = "dx", .in = {"dy", "x"},
                                            .elementwise = {PER_OUTPUT, .each = 3},
                                            .transcendental = {PER_OUTPUT, .each = 1})};

// ---- celu: x where it is positive, else alpha (e^(x / alpha) - 1) -------------------------------
Tensor *tensor_celu(Tensor *x, float alpha) {
    return OP_RUN(op_celu, (&(OpParams){.value = {alpha}}), x);
}

static Status celu_infer(OpCall *call) {
    if (call->params.value[0] != 0.0f) return op_infer_same(call);
    return op_error(call, STATUS_INVALID_ARGUMENT,
                    "alpha is 0, and x is divided by it. HINT: another one, such as 1");
}

const Op op_celu = {ACTIVATION(celu),
                    .module = "CELU",
                    .values = {{"alpha", 1.0f}},
                    .infer = celu_infer,
                    .saves = save_input,
                    .story = STORY(.formula = "y = x where x > 0, else a (e^(x / a) - 1)",
                                   .out = "y", .in = {"x"}, .elementwise = {PER_OUTPUT, .each = 4},
                                   .transcendental = {PER_OUTPUT, .each = 1}, .keeps = KEEP_X,
                                   .kind = KIND_OTHER_ACTIVATION)};
const Op op_celu_backward = {ACTIVATION_BACKWARD(celu),
                             .story = STORY(.formula = "dx = dy where x > 0, else dy e^(x / a)",
                                            .out = "dx", .in = {"dy", "x"},
                                            .elementwise = {PER_OUTPUT, .each = 3},
                                            .transcendental = {PER_OUTPUT, .each = 1})};

// ---- softshrink: towards 0 by lambd, stopping at 0 ----------------------------------------------
Tensor *tensor_softshrink(Tensor *x, float lambd) {
    return OP_RUN(op_softshrink, (&(OpParams){.value = {lambd}}), x);
}

static Status softshrink_infer(OpCall *call) {
    if (call->params.value[0] >= 0.0f) return op_infer_same(call);
    return op_error(call, STATUS_INVALID_ARGUMENT, "lambd is %g. HINT: at least 0",
                    (double)call->params.value[0]);
}

const Op op_softshrink = {ACTIVATION(softshrink),
                          .module = "Softshrink",
                          .printed = "Softshrink(%g)",
                          .values = {{"lambd", 0.5f}},
                          .infer = softshrink_infer,
                          .saves = save_input,
                          .story =
                              STORY(.formula = "y = x - l where x > l, x + l where x < -l, else 0",
                                    .out = "y", .in = {"x"}, .elementwise = {PER_OUTPUT, .each = 3},
                                    .keeps = KEEP_X, .kind = KIND_OTHER_ACTIVATION)};
const Op op_softshrink_backward = {ACTIVATION_BACKWARD(softshrink),
                                   .story = STORY(.formula = "dx = dy where |x| > l, else 0",
                                                  .out = "dx", .in = {"dy", "x"},
                                                  .elementwise = {PER_OUTPUT, .each = 2})};

// ---- hardshrink: x, but 0 where |x| <= lambd ----------------------------------------------------
Tensor *tensor_hardshrink(Tensor *x, float lambd) {
    return OP_RUN(op_hardshrink, (&(OpParams){.value = {lambd}}), x);
}

const Op op_hardshrink = {ACTIVATION(hardshrink),
                          .module = "Hardshrink",
                          .printed = "Hardshrink(%g)",
                          .values = {{"lambd", 0.5f}},
                          .infer = op_infer_same,
                          .saves = save_input,
                          .story = STORY(.formula = "y = x where |x| > l, else 0", .out = "y",
                                         .in = {"x"}, .elementwise = {PER_OUTPUT, .each = 2},
                                         .keeps = KEEP_X, .kind = KIND_OTHER_ACTIVATION)};
const Op op_hardshrink_backward = {ACTIVATION_BACKWARD(hardshrink),
                                   .story = STORY(.formula = "dx = dy where |x| > l, else 0",
                                                  .out = "dx", .in = {"dy", "x"},
                                                  .elementwise = {PER_OUTPUT, .each = 2})};

// ---- threshold: x where it is above the threshold, else a value ---------------------------------
Tensor *tensor_threshold(Tensor *x, float threshold, float value) {
    return OP_RUN(op_threshold, (&(OpParams){.value = {threshold, value}}), x);
}

// PyTorch has no defaults here; these make it relu.
const Op op_threshold = {ACTIVATION(threshold),
                         .module = "Threshold",
                         .values = {{"threshold", 0.0f}, {"value", 0.0f}},
                         .infer = op_infer_same,
                         .saves = save_input,
                         .story = STORY(.formula = "y = x where x > t, else a value", .out = "y",
                                        .in = {"x"}, .elementwise = {PER_OUTPUT, .each = 1},
                                        .keeps = KEEP_X, .kind = KIND_OTHER_ACTIVATION)};
const Op op_threshold_backward = {ACTIVATION_BACKWARD(threshold),
                                  .story = STORY(.formula = "dx = dy where x > t, else 0",
                                                 .out = "dx", .in = {"dy", "x"},
                                                 .elementwise = {PER_OUTPUT, .each = 1})};
