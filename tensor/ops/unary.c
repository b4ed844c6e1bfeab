// unary.c -- element-wise ops of one tensor: neg, abs, exp, log, sqrt. Activations are in relu.c
// and activations.c; ops of a tensor and a number are in scalar.c.
#include "tensor/ops/elementwise.h"

// ---- neg: -x; a sign change is not arithmetic, so it costs only traffic ------------------------
Tensor *tensor_neg(Tensor *x) { return OP_RUN(op_neg, NULL, x); }

KERNEL static void neg_row(const float *x, float *y, int64_t n, const OpParams *params) {
    (void)params;
    for (int64_t i = 0; i < n; i++) y[i] = math_negate(x[i]);
}

KERNEL static Status neg_whole(const OpCall *call, int64_t begin, int64_t end) {
    const int64_t *x = tensor_indices(call->in[0]);
    int64_t *y = tensor_indices(call->out[0]);
    for (int64_t i = begin; i < end; i++) y[i] = math_whole_negate(x[i]);
    return STATUS_OK;
}

static Status neg_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    (void)saved;
    return OP_INTO(&grad_in[0], op_neg, NULL, grad_out[0]);
}

const Op op_neg = {.id = OP_neg,
                   .name = "neg",
                   ELEMENTWISE_UNARY,
                   .row = neg_row,
                   .whole = neg_whole,
                   NUMBERS,
                   .backward = neg_backward,
                   .story = STORY(.formula = "y = -x: a sign is no arithmetic", .out = "y",
                                  .in = {"x"})};

// ---- abs: |x| ----------------------------------------------------------------------------------
Tensor *tensor_abs(Tensor *x) { return OP_RUN(op_abs, NULL, x); }

KERNEL static void abs_row(const float *x, float *y, int64_t n, const OpParams *params) {
    (void)params;
    for (int64_t i = 0; i < n; i++) y[i] = math_absolute(x[i]);
}

KERNEL static Status abs_whole(const OpCall *call, int64_t begin, int64_t end) {
    const int64_t *x = tensor_indices(call->in[0]);
    int64_t *y = tensor_indices(call->out[0]);
    for (int64_t i = begin; i < end; i++) y[i] = math_whole_absolute(x[i]);
    return STATUS_OK;
}

static Status abs_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    return OP_INTO(&grad_in[0], op_abs_backward, NULL, grad_out[0], saved->in[0]);
}

KERNEL static Status abs_backward_cpu(const OpCall *call, int64_t begin, int64_t end) {
    return gradient_range(call, begin, end, math_absolute_backward);
}

const Op op_abs = {.id = OP_abs,
                   .name = "abs",
                   ELEMENTWISE_UNARY,
                   .row = abs_row,
                   .whole = abs_whole,
                   NUMBERS,
                   .backward = abs_backward,
                   .saves = save_input,
                   .story = STORY(.formula = "y = |x|", .out = "y", .in = {"x"},
                                  .elementwise = {PER_OUTPUT, .each = 1})};
// Counts two comparisons.
const Op op_abs_backward = {.id = OP_abs_backward,
                            .name = "abs_backward",
                            .kernel = abs_backward_cpu,
                            ELEMENTWISE_BACKWARD,
                            .story =
                                STORY(.formula = "dx = dy with the sign of x", .out = "dx",
                                      .in = {"dy", "x"}, .elementwise = {PER_OUTPUT, .each = 2})};

// ---- exp: e^x, its own derivative --------------------------------------------------------------
Tensor *tensor_exp(Tensor *x) { return OP_RUN(op_exp, NULL, x); }

KERNEL static void exp_row(const float *x, float *y, int64_t n, const OpParams *params) {
    (void)params;
    for (int64_t i = 0; i < n; i++) y[i] = math_exp(x[i]);
}

static Status exp_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    return OP_INTO(&grad_in[0], op_mul, NULL, grad_out[0], saved->out[0]);
}

const Op op_exp = {.id = OP_exp,
                   .name = "exp",
                   ELEMENTWISE_UNARY,
                   .row = exp_row,
                   .backward = exp_backward,
                   .saves = save_output,
                   .story = STORY(.formula = "y = e^x", .out = "y", .in = {"x"},
                                  .transcendental = {PER_OUTPUT, .each = 1})};

// ---- log: natural logarithm; log(0) is -inf, NaN for negative numbers --------------------------
Tensor *tensor_log(Tensor *x) { return OP_RUN(op_log, NULL, x); }

KERNEL static void log_row(const float *x, float *y, int64_t n, const OpParams *params) {
    (void)params;
    for (int64_t i = 0; i < n; i++) y[i] = math_log(x[i]);
}

static Status log_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    return OP_INTO(&grad_in[0], op_div, NULL, grad_out[0], saved->in[0]);
}

const Op op_log = {.id = OP_log,
                   .name = "log",
                   ELEMENTWISE_UNARY,
                   .row = log_row,
                   .backward = log_backward,
                   .saves = save_input,
                   .story = STORY(.formula = "y = log(x)", .out = "y", .in = {"x"},
                                  .transcendental = {PER_OUTPUT, .each = 1})};

// ---- sqrt: NaN for negative numbers ------------------------------------------------------------
Tensor *tensor_sqrt(Tensor *x) { return OP_RUN(op_sqrt, NULL, x); }

KERNEL static void sqrt_row(const float *x, float *y, int64_t n, const OpParams *params) {
    (void)params;
    for (int64_t i = 0; i < n; i++) y[i] = math_sqrt(x[i]);
}

// dy/dx = 1 / 2y
static Status sqrt_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    Tensor *half = tensor_mul_scalar(grad_out[0], 0.5f);
    return OP_INTO(&grad_in[0], op_div, NULL, half, saved->out[0]);
}

const Op op_sqrt = {.id = OP_sqrt,
                    .name = "sqrt",
                    ELEMENTWISE_UNARY,
                    .row = sqrt_row,
                    .backward = sqrt_backward,
                    .saves = save_output,
                    .story = STORY(.formula = "y = sqrt(x)", .out = "y", .in = {"x"},
                                   .transcendental = {PER_OUTPUT, .each = 1},
                                   .roots = {PER_OUTPUT, .each = 1})};
