// scalar.c -- element-wise ops of a tensor and a number: add_scalar, mul_scalar (and division by a
// number), pow, clamp.
#include "tensor/ops/elementwise.h"

// ---- add_scalar: x + s, the scalar in params.value[0] -------------------------------------------
Tensor *tensor_add_scalar(Tensor *x, float s) {
    return OP_RUN(op_add_scalar, (&(OpParams){.value = {s}}), x);
}

Tensor *tensor_sub_scalar(Tensor *x, float s) { return tensor_add_scalar(x, -s); }

KERNEL static void add_scalar_row(const float *x, float *y, int64_t n, const OpParams *params) {
    float s = params->value[0];
    for (int64_t i = 0; i < n; i++) y[i] = x[i] + s;
}

const Op op_add_scalar = {.id = OP_add_scalar,
                          .name = "add_scalar",
                          ELEMENTWISE_UNARY,
                          .row = add_scalar_row,
                          .backward = backward_same,
                          .story = STORY(.formula = "y = x + a number", .out = "y", .in = {"x"},
                                         .elementwise = {PER_OUTPUT, .each = 1})};

// ---- mul_scalar: x * s, or x / s: the scalar in params.value[0], flags: SCALAR_DIVIDES ----------
enum { SCALAR_DIVIDES = 1 };

Tensor *tensor_mul_scalar(Tensor *x, float s) {
    return OP_RUN(op_mul_scalar, (&(OpParams){.value = {s}}), x);
}

Tensor *tensor_div_scalar(Tensor *x, float s) {
    return OP_RUN(op_mul_scalar, (&(OpParams){.value = {s}, .flags = SCALAR_DIVIDES}), x);
}

KERNEL static void mul_scalar_row(const float *x, float *y, int64_t n, const OpParams *params) {
    float s = params->value[0];
    if (params->flags & SCALAR_DIVIDES) // 1 / s may be rounded or infinite
        for (int64_t i = 0; i < n; i++) y[i] = x[i] / s;
    else
        for (int64_t i = 0; i < n; i++) y[i] = x[i] * s;
}

static Status mul_scalar_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    return OP_INTO(&grad_in[0], op_mul_scalar, &saved->params, grad_out[0]);
}

const Op op_mul_scalar = {.id = OP_mul_scalar,
                          .name = "mul_scalar",
                          ELEMENTWISE_UNARY,
                          .row = mul_scalar_row,
                          .backward = mul_scalar_backward,
                          .story = STORY(.formula = "y = x times a number, or over one", .out = "y",
                                         .in = {"x"}, .elementwise = {PER_OUTPUT, .each = 1})};

// ---- pow: x to the power of a scalar, params.value[0] -------------------------------------------
Tensor *tensor_pow(Tensor *x, float exponent) {
    return OP_RUN(op_pow, (&(OpParams){.value = {exponent}}), x);
}

KERNEL static void pow_row(const float *x, float *y, int64_t n, const OpParams *params) {
    float exponent = params->value[0];
    for (int64_t i = 0; i < n; i++) y[i] = math_pow(x[i], exponent);
}

static Status pow_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    return OP_INTO(&grad_in[0], op_pow_backward, &saved->params, grad_out[0], saved->in[0]);
}

KERNEL static Status pow_backward_cpu(const OpCall *call, int64_t begin, int64_t end) {
    const float *grad = call_in(call, 0), *x = call_in(call, 1), exponent = call->params.value[0];
    float *out = call_out(call, 0);
    if (exponent == 0.0f) // x^0 is constant, even if x^-1 is infinite
        for (int64_t i = begin; i < end; i++) out[i] = 0.0f;
    else
        for (int64_t i = begin; i < end; i++)
            out[i] = grad[i] * math_pow_derivative(x[i], exponent);
    return STATUS_OK;
}

// grad * (p * x^(p - 1)), with p - 1 once per call
const Op op_pow_backward = {.id = OP_pow_backward,
                            .name = "pow_backward",
                            .kernel = pow_backward_cpu,
                            ELEMENTWISE_BACKWARD,
                            .story =
                                STORY(.formula = "dx = dy p x^(p - 1)", .out = "dx",
                                      .in = {"dy", "x"}, .elementwise = {PER_OUTPUT, .each = 2},
                                      .transcendental = {PER_OUTPUT, .each = 1})};

const Op op_pow = {.id = OP_pow,
                   .name = "pow",
                   ELEMENTWISE_UNARY,
                   .row = pow_row,
                   .backward = pow_backward,
                   .saves = save_input,
                   .story = STORY(.formula = "y = x^p", .out = "y", .in = {"x"},
                                  .transcendental = {PER_OUTPUT, .each = 1})};

// ---- clamp: x, but not below params.value[0] nor above params.value[1]; NaN stays NaN -----------
Tensor *tensor_clamp(Tensor *x, float low, float high) {
    return OP_RUN(op_clamp, (&(OpParams){.value = {low, high}}), x);
}

static Status clamp_infer(OpCall *call) {
    float low = call->params.value[0], high = call->params.value[1];
    if (low <= high) return op_infer_same(call);
    return op_error(call, STATUS_INVALID_ARGUMENT,
                    "nothing lies between %g and %g. HINT: low <= high, neither NaN", (double)low,
                    (double)high);
}

KERNEL static void clamp_row(const float *x, float *y, int64_t n, const OpParams *params) {
    float low = params->value[0], high = params->value[1];
    for (int64_t i = 0; i < n; i++) y[i] = math_clamp(x[i], low, high);
}

// The slope is 1 between the bounds and at them.
static Status clamp_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    return OP_INTO(&grad_in[0], op_clamp_backward, &saved->params, grad_out[0], saved->in[0]);
}

KERNEL static Status clamp_backward_cpu(const OpCall *call, int64_t begin, int64_t end) {
    const float *grad = call_in(call, 0), *x = call_in(call, 1);
    float low = call->params.value[0], high = call->params.value[1], *out = call_out(call, 0);
    for (int64_t i = begin; i < end; i++) out[i] = math_clamp_backward(grad[i], x[i], low, high);
    return STATUS_OK;
}

// Counts a comparison with each bound, forward and backward.
const Op op_clamp_backward = {.id = OP_clamp_backward,
                              .name = "clamp_backward",
                              .kernel = clamp_backward_cpu,
                              ELEMENTWISE_BACKWARD,
                              .story = STORY(.formula = "dx = dy between the bounds, else 0",
                                             .out = "dx", .in = {"dy", "x"},
                                             .elementwise = {PER_OUTPUT, .each = 2})};

const Op op_clamp = {.id = OP_clamp,
                     .name = "clamp",
                     .row = clamp_row,
                     .n_inputs = 1,
                     .infer = clamp_infer,
                     .backward = clamp_backward,
                     .saves = save_input,
                     .story = STORY(.formula = "y = x between two bounds", .out = "y", .in = {"x"},
                                    .elementwise = {PER_OUTPUT, .each = 2})};
