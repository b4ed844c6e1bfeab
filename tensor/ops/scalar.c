// scalar.c -- ops of a tensor and a number, element by element: add_scalar, mul_scalar (and a
// division by a number), pow, clamp.
#include "tensor/ops/elementwise.h"

// ---- add_scalar: x + s, the scalar in params.value[0] -------------------------------------------
Tensor *tensor_add_scalar(Tensor *x, float s) {
    return OP_RUN(op_add_scalar, (&(OpParams){.value = {s}}), x);
}

Tensor *tensor_sub_scalar(Tensor *x, float s) { return tensor_add_scalar(x, -s); }

KERNEL Status add_scalar_cpu(const OpCall *call, int64_t begin, int64_t end) {
    const float *x = call_in(call, 0), s = call->params.value[0];
    float *y = call_out(call, 0);
    for (int64_t i = begin; i < end; i++) y[i] = x[i] + s;
    return STATUS_OK;
}

static Status add_scalar_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    (void)saved;
    grad_in[0] = grad_out[0];
    return STATUS_OK;
}

const Op op_add_scalar = {.id = OP_add_scalar,
                          .name = "add_scalar",
                          ELEMENTWISE_UNARY,
                          .cost = COUNTED(cost_one_flop),
                          .backward = add_scalar_backward};

// ---- mul_scalar: x * s, or x / s: the scalar in params.value[0], flags: SCALAR_DIVIDES ----------
enum { SCALAR_DIVIDES = 1 };

Tensor *tensor_mul_scalar(Tensor *x, float s) {
    return OP_RUN(op_mul_scalar, (&(OpParams){.value = {s}}), x);
}

Tensor *tensor_div_scalar(Tensor *x, float s) {
    return OP_RUN(op_mul_scalar, (&(OpParams){.value = {s}, .flags = SCALAR_DIVIDES}), x);
}

KERNEL Status mul_scalar_cpu(const OpCall *call, int64_t begin, int64_t end) {
    const float *x = call_in(call, 0), s = call->params.value[0];
    float *y = call_out(call, 0);
    if (call->params.flags & SCALAR_DIVIDES) // 1 / s, rounded or not to be had, is another number
        for (int64_t i = begin; i < end; i++) y[i] = x[i] / s;
    else
        for (int64_t i = begin; i < end; i++) y[i] = x[i] * s;
    return STATUS_OK;
}

static Status mul_scalar_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    return OP_INTO(&grad_in[0], op_mul_scalar, &saved->params, grad_out[0]);
}

const Op op_mul_scalar = {.id = OP_mul_scalar,
                          .name = "mul_scalar",
                          ELEMENTWISE_UNARY,
                          .cost = COUNTED(cost_one_flop),
                          .backward = mul_scalar_backward};

// ---- pow: x to the power of a scalar, params.value[0] -------------------------------------------
Tensor *tensor_pow(Tensor *x, float exponent) {
    return OP_RUN(op_pow, (&(OpParams){.value = {exponent}}), x);
}

KERNEL Status pow_cpu(const OpCall *call, int64_t begin, int64_t end) {
    const float *x = call_in(call, 0), exponent = call->params.value[0];
    float *y = call_out(call, 0);
    for (int64_t i = begin; i < end; i++) y[i] = math_pow(x[i], exponent);
    return STATUS_OK;
}

static Status pow_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    return OP_INTO(&grad_in[0], op_pow_backward, &saved->params, grad_out[0], saved->in[0]);
}

KERNEL Status pow_backward_cpu(const OpCall *call, int64_t begin, int64_t end) {
    const float *grad = call_in(call, 0), *x = call_in(call, 1), exponent = call->params.value[0];
    float *out = call_out(call, 0);
    if (exponent == 0.0f) // x^0 is constant, also where x^-1 is infinite
        for (int64_t i = begin; i < end; i++) out[i] = 0.0f;
    else
        for (int64_t i = begin; i < end; i++)
            out[i] = grad[i] * math_pow_derivative(x[i], exponent);
    return STATUS_OK;
}

// grad * (p * x^(p - 1)), with p - 1 once per call
static OpCost pow_backward_cost(const OpCall *call) { return op_cost_elementwise(call, 2, 1); }

const Op op_pow_backward = {.id = OP_pow_backward,
                            .name = "pow_backward",
                            ELEMENTWISE_BACKWARD,
                            .cost = COUNTED(pow_backward_cost)};

const Op op_pow = {.id = OP_pow,
                   .name = "pow",
                   ELEMENTWISE_UNARY,
                   .cost = COUNTED(cost_one_transcendental),
                   .backward = pow_backward,
                   .saves = save_input};

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

KERNEL Status clamp_cpu(const OpCall *call, int64_t begin, int64_t end) {
    const float *x = call_in(call, 0), low = call->params.value[0], high = call->params.value[1];
    float *y = call_out(call, 0);
    for (int64_t i = begin; i < end; i++) y[i] = math_clamp(x[i], low, high);
    return STATUS_OK;
}

// The slope is 1 from bound to bound, both included.
static Status clamp_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    return OP_INTO(&grad_in[0], op_clamp_backward, &saved->params, grad_out[0], saved->in[0]);
}

KERNEL Status clamp_backward_cpu(const OpCall *call, int64_t begin, int64_t end) {
    const float *grad = call_in(call, 0), *x = call_in(call, 1);
    float low = call->params.value[0], high = call->params.value[1], *out = call_out(call, 0);
    for (int64_t i = begin; i < end; i++) out[i] = math_clamp_backward(grad[i], x[i], low, high);
    return STATUS_OK;
}

// A comparison with each bound, forward and backward.
static OpCost clamp_cost(const OpCall *call) { return op_cost_elementwise(call, 2, 0); }

const Op op_clamp_backward = {.id = OP_clamp_backward,
                              .name = "clamp_backward",
                              ELEMENTWISE_BACKWARD,
                              .cost = COUNTED(clamp_cost)};

const Op op_clamp = {.id = OP_clamp,
                     .name = "clamp",
                     .work = op_work_elements,
                     .min_inputs = 1,
                     .max_inputs = 1,
                     .dtypes = dtypes_float,
                     .n_dtypes = 1,
                     .infer = clamp_infer,
                     .cost = COUNTED(clamp_cost),
                     .backward = clamp_backward,
                     .saves = save_input};
