// loss.c -- means over all elements: the squared error, and binary cross-entropy of logits. The
// cross-entropy of classes is cross_entropy.c.
#include "tensor/ops/reduce.h"

// The mean of f(x, t) over all elements of x and t: blocks in float, their sums in double.
MATH_INLINE Status mean_of(const OpCall *call, float (*f)(float, float)) {
    const float *x = call_in(call, 0), *t = call_in(call, 1);
    int64_t n = call->in[0]->numel;
    float value[REDUCE_BLOCK];
    double total = 0.0;
    for (int64_t from = 0; from < n; from += REDUCE_BLOCK) {
        int64_t block = n - from < REDUCE_BLOCK ? n - from : REDUCE_BLOCK;
        for (int64_t i = 0; i < block; i++) value[i] = f(x[from + i], t[from + i]);
        total += (double)reduce_sum(value, block);
    }
    *call_out(call, 0) = (float)(total / (double)n);
    return STATUS_OK;
}

// ---- mse: mean of (prediction - target)^2 -------------------------------------------------------
Tensor *tensor_mse(Tensor *prediction, Tensor *target) {
    return OP_RUN(op_mse, NULL, prediction, target);
}

static Status mse_infer(OpCall *call) {
    if (!shape_equal(call->in[0]->shape, call->in[1]->shape))
        return op_error(call, STATUS_SHAPE, "prediction and target must have one shape");
    return op_output(call, 0, DTYPE_FLOAT32, SHAPE_SCALAR);
}

MATH_INLINE float squared_difference(float p, float t) { return (p - t) * (p - t); }

KERNEL static Status mse_cpu(const OpCall *call, int64_t begin, int64_t end) {
    (void)begin, (void)end;
    return mean_of(call, squared_difference);
}

// The target's gradient is the prediction's with the other sign (params.value[0]).
static Status mse_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    for (int i = 0; i < 2; i++) {
        OpParams sign = {.value = {i == 0 ? 1.0f : -1.0f}};
        if (call_needs(saved, i) &&
            OP_INTO(&grad_in[i], op_mse_backward, &sign, grad_out[0], saved->in[0], saved->in[1]))
            return error_status();
    }
    return STATUS_OK;
}

// ---- backward: (p - t) (2 g / n), inputs grad (), p, t ------------------------------------------
KERNEL static Status mse_backward_cpu(const OpCall *call, int64_t begin, int64_t end) {
    const float *p = call_in(call, 1), *t = call_in(call, 2);
    float *out = call_out(call, 0);
    float scale = call->params.value[0] * 2.0f * *call_in(call, 0) / (float)call_numel(call);
    for (int64_t i = begin; i < end; i++) out[i] = (p[i] - t[i]) * scale;
    return STATUS_OK;
}

// n subtractions, n squares, n - 1 adds, a division
const Op op_mse = {.id = OP_mse,
                   .name = "mse",
                   .kernel = mse_cpu,
                   .n_inputs = 2,
                   .infer = mse_infer,
                   .backward = mse_backward,
                   .saves = save_inputs,
                   .story = STORY(.formula = "y = mean of (x - target)^2", .out = "y",
                                  .in = {"x", "target"}, .elementwise = {PER_INPUT, .each = 3})};
const Op op_mse_backward = {.id = OP_mse_backward,
                            .name = "mse_backward",
                            .kernel = mse_backward_cpu,
                            .work = op_work_elements,
                            .n_inputs = 3,
                            .infer = infer_like_second,
                            .story = STORY(.formula = "dx = (x - target) 2 dy / n", .out = "dx",
                                           .in = {"dy", "x", "target"},
                                           .elementwise = {PER_OUTPUT, .each = 2})};

// ---- binary_cross_entropy_with_logits -----------------------------------------------------------
// The mean of -t log(p) - (1 - t) log(1 - p), p = sigmoid(x), as
// max(x, 0) - x t + log(1 + e^-|x|), which neither overflows nor loses small losses. One pass.
Tensor *tensor_binary_cross_entropy_with_logits(Tensor *logits, Tensor *targets) {
    return OP_RUN(op_binary_cross_entropy_with_logits, NULL, logits, targets);
}

static Status bce_infer(OpCall *call) {
    if (!shape_equal(call->in[0]->shape, call->in[1]->shape))
        return op_error(call, STATUS_SHAPE,
                        "logits and targets must have one shape. HINT: a logit and a target, 0 to "
                        "1, for each yes-or-no question");
    return op_output(call, 0, DTYPE_FLOAT32, SHAPE_SCALAR);
}

KERNEL static Status binary_cross_entropy_with_logits_cpu(const OpCall *call, int64_t begin,
                                                          int64_t end) {
    (void)begin, (void)end;
    return mean_of(call, math_binary_cross_entropy);
}

// dx = (sigmoid(x) - t) g / n,  dt = -x g / n
static Status bce_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    if (call_needs(saved, 0) && OP_INTO(&grad_in[0], op_binary_cross_entropy_with_logits_backward,
                                        NULL, grad_out[0], saved->in[0], saved->in[1]))
        return error_status();
    if (!call_needs(saved, 1)) return STATUS_OK;
    Tensor *share = tensor_mul_scalar(grad_out[0], -1.0f / (float)saved->in[0]->numel);
    return OP_INTO(&grad_in[1], op_mul, NULL, saved->in[0], share);
}

static unsigned bce_saves(const OpCall *call) {
    return SAVE_IN(0) | (call_needs(call, 0) ? SAVE_IN(1) : 0);
}

// ---- backward: inputs grad (), logits, targets --------------------------------------------------
// A sigmoid (2 and an exponential), a subtraction, a product with g / n.
KERNEL static Status binary_cross_entropy_with_logits_backward_cpu(const OpCall *call,
                                                                   int64_t begin, int64_t end) {
    const float *x = call_in(call, 1), *t = call_in(call, 2);
    float scale = *call_in(call, 0) / (float)call_numel(call), *out = call_out(call, 0);
    for (int64_t i = begin; i < end; i++) out[i] = (math_sigmoid(x[i]) - t[i]) * scale;
    return STATUS_OK;
}

// Per element: 2 comparisons (the maximum, the absolute value), a product, a subtraction, 2 adds,
// an exponential and a logarithm; n - 1 adds and a division for the mean.
const Op op_binary_cross_entropy_with_logits = {
    .id = OP_binary_cross_entropy_with_logits,
    .name = "binary_cross_entropy_with_logits",
    .kernel = binary_cross_entropy_with_logits_cpu,
    .n_inputs = 2,
    .infer = bce_infer,
    .backward = bce_backward,
    .saves = bce_saves,
    .story = STORY(.formula = "y = mean of max(x, 0) - x target + log(1 + e^-|x|)", .out = "y",
                   .in = {"x", "target"}, .elementwise = {PER_INPUT, .each = 7},
                   .transcendental = {PER_INPUT, .each = 2})};
const Op op_binary_cross_entropy_with_logits_backward = {
    .id = OP_binary_cross_entropy_with_logits_backward,
    .name = "binary_cross_entropy_with_logits_backward",
    .kernel = binary_cross_entropy_with_logits_backward_cpu,
    .work = op_work_elements,
    .n_inputs = 3,
    .infer = infer_like_second,
    .story = STORY(.formula = "dx = (sigmoid(x) - target) dy / n", .out = "dx",
                   .in = {"dy", "x", "target"}, .elementwise = {PER_OUTPUT, .each = 4},
                   .transcendental = {PER_OUTPUT, .each = 1})};
