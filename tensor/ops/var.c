// var.c -- the variance of each row, or its root: the sum of squared distances from the mean, over
// n - correction
// params: value[0] = correction; flags: VAR_ROOT
#include "tensor/ops/layer_norm.h"

enum { VAR_ROOT = 1 };

Tensor *tensor_var(Tensor *x, int dim, float correction, bool keep_dim) {
    OpParams params = {.value = {correction}};
    return rows_reduce_along(&op_var, &params, x, dim, keep_dim);
}

Tensor *tensor_std(Tensor *x, int dim, float correction, bool keep_dim) {
    OpParams params = {.value = {correction}, .flags = VAR_ROOT};
    return rows_reduce_along(&op_var, &params, x, dim, keep_dim);
}

static Status var_infer(OpCall *call) {
    return op_output(call, 0, DTYPE_FLOAT32, rows_shape(call->in[0]));
}

// One row per output, even for empty rows.
static OpWork var_work(const OpCall *call) {
    int64_t n = row_length(call->in[0]);
    return (OpWork){.items = call_numel(call), .cost = (double)(n ? n : 1)};
}

KERNEL static Status var_cpu(const OpCall *call, int64_t begin, int64_t end) {
    int64_t n = row_length(call->in[0]);
    for (int64_t r = begin; r < end; r++) {
        const float *x = call_in(call, 0) + r * n;
        Moments m = norm_moments(x, n, 0.0);
        double y = math_unbiased(m.variance, (double)n, (double)call->params.value[0]);
        call_out(call, 0)[r] = (float)(call->params.flags & VAR_ROOT ? sqrt(y) : y);
    }
    return STATUS_OK;
}

static unsigned var_saves(const OpCall *call) {
    return SAVE_IN(0) | (call->params.flags & VAR_ROOT ? SAVE_OUT(0) : 0);
}

static Status var_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    Tensor *y = saved->params.flags & VAR_ROOT ? saved->out[0] : NULL;
    return OP_INTO(&grad_in[0], op_var_backward, &saved->params, grad_out[0], saved->in[0], y);
}

// ---- backward: computes the mean again, because a float does not hold it -----------------------
enum { DY, X, Y }; // inputs; Y only for a root

static Status var_backward_infer(OpCall *call) { return op_output_like(call, 0, call->in[X]); }

static OpWork var_backward_work(const OpCall *call) {
    return (OpWork){.items = row_count(call->in[X]), .cost = 2.0 * (double)row_length(call->in[X])};
}

KERNEL static Status var_backward_cpu(const OpCall *call, int64_t begin, int64_t end) {
    int64_t n = row_length(call->in[X]);
    const float *dy = call_in(call, DY), *y = call->in[Y] ? call_in(call, Y) : NULL;
    double correction = (double)call->params.value[0];
    for (int64_t r = begin; r < end; r++) {
        const float *x = call_in(call, X) + r * n;
        float *dx = call_out(call, 0) + r * n;
        Moments m = norm_moments(x, n, 0.0);
        float rest = m.rest == m.rest ? m.rest : 0.0f; // NaN if the mean is infinite
        float slope = y ? math_deviation_slope(dy[r], y[r], (double)n, correction)
                        : math_variance_slope(dy[r], (double)n, correction);
        for (int64_t j = 0; j < n; j++) dx[j] = slope * ((x[j] - m.about) - rest);
    }
    return STATUS_OK;
}

static void var_vary(OpStory *story, const OpParams *params, unsigned given) {
    (void)given;
    if (!(params->flags & VAR_ROOT)) return;
    story->formula = "y = sqrt(sum((x - mean)^2) / (n - correction)) of each row";
    story->transcendental = (OpRule){PER_ROW, .more = 1};
    story->keeps |= KEEP_Y;
}

static void var_backward_vary(OpStory *story, const OpParams *params, unsigned given) {
    (void)given;
    if (!(params->flags & VAR_ROOT)) return;
    story->formula = "dx = dy / (y (n - correction)) (x - mean)";
    story->elementwise.more = 2;
}

// Per row of n: for the mean n - 1 adds and a division, for x - mean n, n squares, n - 1 adds and a
// division; n - correction once per call.
const Op op_var = {.id = OP_var,
                   .name = "var",
                   .kernel = var_cpu,
                   .work = var_work,
                   .n_inputs = 1,
                   .infer = var_infer,
                   .backward = var_backward,
                   .saves = var_saves,
                   .story = STORY(.formula = "y = sum((x - mean)^2) / (n - correction) of each row",
                                  .out = "y", .in = {"x"}, .elementwise = {PER_ROW, .each = 4},
                                  .keeps = KEEP_X, .vary = var_vary)};
// Per row of n: for the mean n - 1 adds and a division, n subtractions and n products; for dy times
// 2 / (n - correction) one product, for dy / (y (n - correction)) one and a division.
const Op op_var_backward = {.id = OP_var_backward,
                            .name = "var_backward",
                            .kernel = var_backward_cpu,
                            .work = var_backward_work,
                            .n_inputs = 3,
                            .optional = SAVE_IN(Y),
                            .infer = var_backward_infer,
                            .story =
                                STORY(.formula = "dx = dy 2 / (n - correction) (x - mean)",
                                      .out = "dx", .in = {"dy", "x", "y"},
                                      .elementwise = {PER_ROW, .each = 3, .more = 1, .input = X},
                                      .vary = var_backward_vary)};
