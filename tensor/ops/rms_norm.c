// rms_norm.c -- y = x rstd weight, rstd = 1 / sqrt(mean(x x) + epsilon) of each row; a row is all
// elements of the last dimensions (Zhang, Sennrich 2019); gradients: layer_norm_backward.c
// params: shape = shape of a row, value[0] = epsilon
#include "tensor/ops/layer_norm.h"

#include <math.h>

enum { X, WEIGHT }; // inputs; and outputs:
enum { Y, RSTD };

Tensor *tensor_rms_norm(Tensor *x, Shape row, Tensor *weight, float epsilon) {
    OpParams params = {.value = {epsilon}, .shape = row};
    return OP_RUN(op_rms_norm, &params, x, weight);
}

static Status rms_norm_infer(OpCall *call) {
    if (norm_check_row(call)) return error_status();
    Shape rows = call->in[X]->shape;
    rows.ndim -= call->params.shape.ndim;
    Status status = op_output_like(call, Y, call->in[X]);
    return status ? status : op_output(call, RSTD, DTYPE_FLOAT32, rows);
}

static double mean_square_in_double(const float *x, int64_t n) {
    double sum = 0.0;
    for (int64_t j = 0; j < n; j++) sum += (double)x[j] * (double)x[j];
    return sum / (double)n;
}

MATH_INLINE float rstd_of(const float *x, int64_t n, double epsilon) {
    Centred row = {x, 0.0f};
    double square = norm_sums(&row, n, distance_and_square).second / (double)n;
    if (!norm_square_holds(square, epsilon)) square = mean_square_in_double(x, n);
    return (float)(1.0 / sqrt(square + epsilon));
}

static OpWork rms_norm_work(const OpCall *call) {
    int64_t n = norm_rows_of(call->in[X], &call->params).n;
    return (OpWork){.items = call->out[RSTD]->numel, .cost = (double)(n ? n : 1)};
}

KERNEL static Status rms_norm_cpu(const OpCall *call, int64_t begin, int64_t end) {
    int64_t n = norm_rows_of(call->in[X], &call->params).n;
    const float *weight = call->in[WEIGHT] ? call_in(call, WEIGHT) : NULL;
    for (int64_t r = begin; r < end; r++) {
        const float *x = call_in(call, X) + r * n;
        float *y = call_out(call, Y) + r * n;
        float rstd = rstd_of(x, n, (double)call->params.value[0]);
        call_out(call, RSTD)[r] = rstd;
        if (weight)
            for (int64_t j = 0; j < n; j++) y[j] = x[j] * rstd * weight[j];
        else
            for (int64_t j = 0; j < n; j++) y[j] = x[j] * rstd;
    }
    return STATUS_OK;
}

// ---- backward ----------------------------------------------------------------------------------
static unsigned rms_norm_saves(const OpCall *call) {
    unsigned saves = SAVE_IN(X) | SAVE_OUT(RSTD);
    return call_needs(call, X) && call->in[WEIGHT] ? saves | SAVE_IN(WEIGHT) : saves;
}

static Status rms_norm_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    Tensor *grad = grad_out[Y], *x = saved->in[X], *rstd = saved->out[RSTD];
    const OpParams *params = &saved->params;
    if (call_needs(saved, X) &&
        OP_INTO(&grad_in[X], op_rms_norm_backward, params, grad, x, saved->in[WEIGHT], rstd))
        return error_status();
    if (!call_needs(saved, WEIGHT)) return STATUS_OK;
    return OP_INTO(&grad_in[WEIGHT], op_rms_norm_backward_weight, params, grad, x, rstd);
}

static void rms_norm_vary(OpStory *story, const OpParams *params, unsigned given) {
    (void)params;
    if (!(given & SAVE_IN(WEIGHT))) return;
    story->elementwise.each++;
    story->formula = "y = x rstd weight, rstd = 1 / sqrt(mean(x x) + epsilon)";
}

// Per row of n: n squares, n - 1 adds and a division, for rstd an add and the root; for y n
// products, and with a weight n more.
const Op op_rms_norm = {
    .id = OP_rms_norm,
    .name = "rms_norm",
    .kernel = rms_norm_cpu,
    .n_inputs = 2,
    .optional = SAVE_IN(WEIGHT),
    .infer = rms_norm_infer,
    .work = rms_norm_work,
    .backward = rms_norm_backward,
    .saves = rms_norm_saves,
    .story = STORY(.formula = "y = x rstd, rstd = 1 / sqrt(mean(x x) + epsilon)", .out = "y",
                   .in = {"x", "weight"}, .elementwise = {PER_BLOCK, .each = 3, .more = 1},
                   .transcendental = {PER_BLOCK, .more = 1}, .extra = "rstd of a row",
                   .extra_elements = {PER_BLOCK, .more = 1}, .keeps = KEEP_X | KEEP_EXTRA,
                   .kind = KIND_RMS_NORM, .vary = rms_norm_vary)};
