// loss.c -- element-wise losses: squared, absolute and Huber's error, binary cross-entropy of
// logits, Kullback-Leibler divergence. Losses of labels are in cross_entropy.c and nll.c.
#include "tensor/math_loss.h"
#include "tensor/ops/reduce.h"

static Status loss_infer(OpCall *call) {
    if (!shape_equal(call->in[0]->shape, call->in[1]->shape))
        return op_error(call, STATUS_SHAPE,
                        "the two must have one shape. HINT: a target for each element; "
                        "tensor_reshape or tensor_expand one of them");
    return op_output(call, 0, DTYPE_FLOAT32, SHAPE_SCALAR);
}

// The sum of f(x, t, params.value[0]) over all elements of x and t, divided by `by`: adds blocks in
// float, and their sums in double.
MATH_INLINE Status mean_of(const OpCall *call, float (*f)(float, float, float), int64_t by) {
    const float *x = call_in(call, 0), *t = call_in(call, 1), parameter = call->params.value[0];
    int64_t n = call->in[0]->numel;
    float value[REDUCE_BLOCK];
    double total = 0.0;
    for (int64_t from = 0; from < n; from += REDUCE_BLOCK) {
        int64_t block = n - from < REDUCE_BLOCK ? n - from : REDUCE_BLOCK;
        for (int64_t i = 0; i < block; i++) value[i] = f(x[from + i], t[from + i], parameter);
        total += (double)reduce_sum(value, block);
    }
    *call_out(call, 0) = (float)(total / (double)by);
    return STATUS_OK;
}

// out = slope(x - t, params.value[1]) (g / n) params.value[0]; inputs grad (), x, t
MATH_INLINE Status slopes_of(const OpCall *call, int64_t begin, int64_t end,
                             float (*slope)(float, float)) {
    const float *x = call_in(call, 1), *t = call_in(call, 2), parameter = call->params.value[1];
    float scale = call->params.value[0] * *call_in(call, 0) / (float)call_numel(call);
    float *out = call_out(call, 0);
    for (int64_t i = begin; i < end; i++) out[i] = slope(x[i] - t[i], parameter) * scale;
    return STATUS_OK;
}

// For a loss of x - t: the target's gradient is x's with the opposite sign.
static Status difference_backward(const OpCall *saved, const Op *op, Tensor *grad,
                                  Tensor *grad_in[]) {
    for (int i = 0; i < 2; i++) {
        OpParams params = {.value = {i == 0 ? 1.0f : -1.0f, saved->params.value[0]}};
        if (call_needs(saved, i) &&
            OP_INTO(&grad_in[i], *op, &params, grad, saved->in[0], saved->in[1]))
            return error_status();
    }
    return STATUS_OK;
}

#define LOSS_BACKWARD .work = op_work_elements, .n_inputs = 3, .infer = infer_like_second

// ---- mse: mean of (prediction - target)^2 -------------------------------------------------------
Tensor *tensor_mse(Tensor *prediction, Tensor *target) {
    return OP_RUN(op_mse, NULL, prediction, target);
}

MATH_INLINE float squared_difference(float p, float t, float unused) {
    (void)unused;
    return (p - t) * (p - t);
}

KERNEL static Status mse_cpu(const OpCall *call, int64_t begin, int64_t end) {
    (void)begin, (void)end;
    return mean_of(call, squared_difference, call->in[0]->numel);
}

static Status mse_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    return difference_backward(saved, &op_mse_backward, grad_out[0], grad_in);
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
                   .infer = loss_infer,
                   .backward = mse_backward,
                   .saves = save_inputs,
                   .story = STORY(.formula = "y = mean of (x - target)^2", .out = "y",
                                  .in = {"x", "target"}, .elementwise = {PER_INPUT, .each = 3})};
const Op op_mse_backward = {.id = OP_mse_backward,
                            .name = "mse_backward",
                            .kernel = mse_backward_cpu,
                            LOSS_BACKWARD,
                            .story = STORY(.formula = "dx = (x - target) 2 dy / n", .out = "dx",
                                           .in = {"dy", "x", "target"},
                                           .elementwise = {PER_OUTPUT, .each = 2})};

// ---- binary_cross_entropy_with_logits -----------------------------------------------------------
// The mean of -t log(p) - (1 - t) log(1 - p), p = sigmoid(x), computed in one pass as max(x, 0) - x
// t + log(1 + e^-|x|), which neither overflows nor loses small losses.
Tensor *tensor_binary_cross_entropy_with_logits(Tensor *logits, Tensor *targets) {
    return OP_RUN(op_binary_cross_entropy_with_logits, NULL, logits, targets);
}

MATH_INLINE float binary_cross_entropy(float x, float t, float unused) {
    (void)unused;
    return math_binary_cross_entropy(x, t);
}

KERNEL static Status binary_cross_entropy_with_logits_cpu(const OpCall *call, int64_t begin,
                                                          int64_t end) {
    (void)begin, (void)end;
    return mean_of(call, binary_cross_entropy, call->in[0]->numel);
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
// Counts: a sigmoid (2 and an exponential), a subtraction, a product with g / n.
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
    .infer = loss_infer,
    .backward = bce_backward,
    .saves = bce_saves,
    .story = STORY(.formula = "y = mean of max(x, 0) - x target + log(1 + e^-|x|)", .out = "y",
                   .in = {"x", "target"}, .elementwise = {PER_INPUT, .each = 7},
                   .transcendental = {PER_INPUT, .each = 2})};
const Op op_binary_cross_entropy_with_logits_backward = {
    .id = OP_binary_cross_entropy_with_logits_backward,
    .name = "binary_cross_entropy_with_logits_backward",
    .kernel = binary_cross_entropy_with_logits_backward_cpu,
    LOSS_BACKWARD,
    .story = STORY(.formula = "dx = (sigmoid(x) - target) dy / n", .out = "dx",
                   .in = {"dy", "x", "target"}, .elementwise = {PER_OUTPUT, .each = 4},
                   .transcendental = {PER_OUTPUT, .each = 1})};

// ---- l1: mean of |x - t| ------------------------------------------------------------------------
Tensor *tensor_l1(Tensor *x, Tensor *target) { return OP_RUN(op_l1, NULL, x, target); }

MATH_INLINE float absolute_difference(float x, float t, float unused) {
    (void)unused;
    return math_absolute(x - t);
}

KERNEL static Status l1_cpu(const OpCall *call, int64_t begin, int64_t end) {
    (void)begin, (void)end;
    return mean_of(call, absolute_difference, call->in[0]->numel);
}

static Status l1_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    return difference_backward(saved, &op_l1_backward, grad_out[0], grad_in);
}

MATH_INLINE float sign(float difference, float unused) {
    (void)unused;
    return math_sign(difference);
}

KERNEL static Status l1_backward_cpu(const OpCall *call, int64_t begin, int64_t end) {
    return slopes_of(call, begin, end, sign);
}

// n subtractions and absolute values, n - 1 adds, a division
const Op op_l1 = {.id = OP_l1,
                  .name = "l1",
                  .kernel = l1_cpu,
                  .n_inputs = 2,
                  .infer = loss_infer,
                  .backward = l1_backward,
                  .saves = save_inputs,
                  .story = STORY(.formula = "y = mean of |x - target|", .out = "y",
                                 .in = {"x", "target"}, .elementwise = {PER_INPUT, .each = 3})};
// Counts: a subtraction, two comparisons for its sign, a product.
const Op op_l1_backward = {.id = OP_l1_backward,
                           .name = "l1_backward",
                           .kernel = l1_backward_cpu,
                           LOSS_BACKWARD,
                           .story = STORY(.formula = "dx = sign(x - target) dy / n", .out = "dx",
                                          .in = {"dy", "x", "target"},
                                          .elementwise = {PER_OUTPUT, .each = 4})};

// ---- huber: mean of d d / 2 where |d| <= delta, delta (|d| - delta / 2) beyond; d = x - t -------
// params: value = {delta}; in backward {1 or -1, delta}
Tensor *tensor_huber(Tensor *x, Tensor *target, float delta) {
    return OP_RUN(op_huber, (&(OpParams){.value = {delta}}), x, target);
}

Tensor *tensor_smooth_l1(Tensor *x, Tensor *target, float beta) {
    if (beta == 0.0f) return tensor_l1(x, target);
    return tensor_div_scalar(tensor_huber(x, target, beta), beta);
}

static Status huber_infer(OpCall *call) {
    if (!(call->params.value[0] > 0.0f))
        return op_error(call, STATUS_INVALID_ARGUMENT,
                        "delta is %g. HINT: above 0: the error from which it counts linearly",
                        (double)call->params.value[0]);
    return loss_infer(call);
}

MATH_INLINE float huber(float x, float t, float delta) { return math_huber(x - t, delta); }

KERNEL static Status huber_cpu(const OpCall *call, int64_t begin, int64_t end) {
    (void)begin, (void)end;
    return mean_of(call, huber, call->in[0]->numel);
}

static Status huber_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    return difference_backward(saved, &op_huber_backward, grad_out[0], grad_in);
}

KERNEL static Status huber_backward_cpu(const OpCall *call, int64_t begin, int64_t end) {
    return slopes_of(call, begin, end, math_huber_slope);
}

// Per element: a subtraction, an absolute value, a comparison, and 2 for either case; then n - 1
// adds and a division for the mean.
const Op op_huber = {.id = OP_huber,
                     .name = "huber",
                     .kernel = huber_cpu,
                     .n_inputs = 2,
                     .infer = huber_infer,
                     .backward = huber_backward,
                     .saves = save_inputs,
                     .story = STORY(.formula = "y = mean of d d / 2, or delta (|d| - delta / 2) "
                                               "where |d| > delta; d = x - target",
                                    .out = "y", .in = {"x", "target"},
                                    .elementwise = {PER_INPUT, .each = 6})};
const Op op_huber_backward = {
    .id = OP_huber_backward,
    .name = "huber_backward",
    .kernel = huber_backward_cpu,
    LOSS_BACKWARD,
    .story = STORY(.formula = "dx = (x - target, between -delta and delta) dy / n", .out = "dx",
                   .in = {"dy", "x", "target"}, .elementwise = {PER_OUTPUT, .each = 4})};

// ---- kl_divergence: the sum of t (log t - x), divided by the number of rows ---------------------
Tensor *tensor_kl_divergence(Tensor *log_probabilities, Tensor *targets) {
    return OP_RUN(op_kl_divergence, NULL, log_probabilities, targets);
}

static Status kl_infer(OpCall *call) {
    if (call->in[0]->shape.ndim == 0)
        return op_error(call, STATUS_SHAPE, "a scalar has no rows. HINT: (rows, ...)");
    return loss_infer(call);
}

MATH_INLINE float divergence(float x, float t, float unused) {
    (void)unused;
    return math_kl_divergence(x, t);
}

KERNEL static Status kl_divergence_cpu(const OpCall *call, int64_t begin, int64_t end) {
    (void)begin, (void)end;
    return mean_of(call, divergence, call->in[0]->shape.dims[0]);
}

// dx = -t g / rows,  dt = (log t + 1 - x) g / rows
static Status kl_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    Tensor *x = saved->in[0], *t = saved->in[1];
    Tensor *share = tensor_div_scalar(grad_out[0], (float)x->shape.dims[0]);
    if (call_needs(saved, 0) && OP_INTO(&grad_in[0], op_mul, NULL, t, tensor_neg(share)))
        return error_status();
    if (!call_needs(saved, 1)) return STATUS_OK;
    Tensor *slope = tensor_sub(tensor_add_scalar(tensor_log(t), 1.0f), x);
    return OP_INTO(&grad_in[1], op_mul, NULL, slope, share);
}

static unsigned kl_saves(const OpCall *call) {
    return SAVE_IN(1) | (call_needs(call, 1) ? SAVE_IN(0) : 0);
}

// Per element: a logarithm, two products, a subtraction; n - 1 adds, a division.
const Op op_kl_divergence = {
    .id = OP_kl_divergence,
    .name = "kl_divergence",
    .kernel = kl_divergence_cpu,
    .n_inputs = 2,
    .infer = kl_infer,
    .backward = kl_backward,
    .saves = kl_saves,
    .story = STORY(.formula = "y = sum of t (log(t) - x), divided by the rows", .out = "y",
                   .in = {"x", "t"}, .elementwise = {PER_INPUT, .each = 4},
                   .transcendental = {PER_INPUT, .each = 1})};
