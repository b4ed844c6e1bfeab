// functions.c -- more element-wise ops of one tensor: erf, sin, cos, reciprocal, rsqrt, and the
// piecewise constant ones: sign, floor, ceil, round.
#include "tensor/ops/elementwise.h"

// ---- the loops ----------------------------------------------------------------------------------
#define FUNCTION_LIST(X)                                                                           \
    X(erf)                                                                                         \
    X(sin)                                                                                         \
    X(cos)                                                                                         \
    X(reciprocal)                                                                                  \
    X(rsqrt)                                                                                       \
    X(sign)                                                                                        \
    X(floor)                                                                                       \
    X(ceil)                                                                                        \
    X(round)
#define FUNCTION(of)                                                                               \
    KERNEL static void of##_row(const float *x, float *y, int64_t n, const OpParams *params) {     \
        (void)params;                                                                              \
        for (int64_t i = 0; i < n; i++) y[i] = math_##of(x[i]);                                    \
    }                                                                                              \
    Tensor *tensor_##of(Tensor *x) { return OP_RUN(op_##of, NULL, x); }
FUNCTION_LIST(FUNCTION)

#define FUNCTION_OP(of) .id = OP_##of, .name = #of, ELEMENTWISE_UNARY, .row = of##_row

// ---- erf: the error function --------------------------------------------------------------------
// dy/dx = 2 / sqrt(pi) e^(-x x)
static Status erf_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    Tensor *x = saved->in[0], *bell = tensor_exp(tensor_neg(tensor_mul(x, x)));
    return OP_INTO(&grad_in[0], op_mul, NULL, grad_out[0], tensor_mul_scalar(bell, 1.12837917f));
}

const Op op_erf = {FUNCTION_OP(erf), .backward = erf_backward, .saves = save_input,
                   .story = STORY(.formula = "y = erf(x)", .out = "y", .in = {"x"},
                                  .transcendental = {PER_OUTPUT, .each = 1})};

// ---- sin, cos: x in radians ---------------------------------------------------------------------
static Status sin_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    return OP_INTO(&grad_in[0], op_mul, NULL, grad_out[0], tensor_cos(saved->in[0]));
}

static Status cos_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    Tensor *falling = tensor_neg(tensor_sin(saved->in[0]));
    return OP_INTO(&grad_in[0], op_mul, NULL, grad_out[0], falling);
}

const Op op_sin = {FUNCTION_OP(sin), .backward = sin_backward, .saves = save_input,
                   .story = STORY(.formula = "y = sin(x)", .out = "y", .in = {"x"},
                                  .transcendental = {PER_OUTPUT, .each = 1})};
const Op op_cos = {FUNCTION_OP(cos), .backward = cos_backward, .saves = save_input,
                   .story = STORY(.formula = "y = cos(x)", .out = "y", .in = {"x"},
                                  .transcendental = {PER_OUTPUT, .each = 1})};

// ---- reciprocal: 1 / x; rsqrt: 1 / sqrt(x) ------------------------------------------------------
// dy/dx = -y y
static Status reciprocal_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    Tensor *y = saved->out[0], *slope = tensor_neg(tensor_mul(y, y));
    return OP_INTO(&grad_in[0], op_mul, NULL, grad_out[0], slope);
}

// dy/dx = -y y y / 2
static Status rsqrt_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    Tensor *y = saved->out[0], *cube = tensor_mul(tensor_mul(y, y), y);
    return OP_INTO(&grad_in[0], op_mul, NULL, grad_out[0], tensor_mul_scalar(cube, -0.5f));
}

const Op op_reciprocal = {FUNCTION_OP(reciprocal), .backward = reciprocal_backward,
                          .saves = save_output,
                          .story = STORY(.formula = "y = 1 / x", .out = "y", .in = {"x"},
                                         .elementwise = {PER_OUTPUT, .each = 1},
                                         .divisions = {PER_OUTPUT, .each = 1})};
const Op op_rsqrt = {FUNCTION_OP(rsqrt), .backward = rsqrt_backward, .saves = save_output,
                     .story = STORY(.formula = "y = 1 / sqrt(x)", .out = "y", .in = {"x"},
                                    .transcendental = {PER_OUTPUT, .each = 1},
                                    .roots = {PER_OUTPUT, .each = 1},
                                    .divisions = {PER_OUTPUT, .each = 1})};

// ---- sign, floor, ceil, round: without a gradient, like comparisons -----------------------------
KERNEL static Status sign_whole(const OpCall *call, int64_t begin, int64_t end) {
    const int64_t *x = tensor_indices(call->in[0]);
    int64_t *y = tensor_indices(call->out[0]);
    for (int64_t i = begin; i < end; i++) y[i] = math_whole_sign(x[i]);
    return STATUS_OK;
}

// Counts two comparisons for a sign; one for a rounding, which takes as long as arithmetic.
const Op op_sign = {FUNCTION_OP(sign), .whole = sign_whole, NUMBERS,
                    .story =
                        STORY(.formula = "y = 1 where x > 0, -1 where x < 0, else 0", .out = "y",
                              .in = {"x"}, .elementwise = {PER_OUTPUT, .each = 2})};
const Op op_floor = {FUNCTION_OP(floor),
                     .story = STORY(.formula = "y = floor(x)", .out = "y", .in = {"x"},
                                    .elementwise = {PER_OUTPUT, .each = 1})};
const Op op_ceil = {FUNCTION_OP(ceil),
                    .story = STORY(.formula = "y = ceil(x)", .out = "y", .in = {"x"},
                                   .elementwise = {PER_OUTPUT, .each = 1})};
const Op op_round = {FUNCTION_OP(round),
                     .story = STORY(.formula = "y = round(x), halves to the even one", .out = "y",
                                    .in = {"x"}, .elementwise = {PER_OUTPUT, .each = 1})};
