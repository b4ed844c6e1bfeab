// layer_norm.c -- y = (x - mean) rstd weight + bias: mean and rstd = 1 / sqrt(variance + epsilon)
// of each row, a row being all elements of the last dimensions (Ba, Kiros, Hinton 2016)
// params: shape = that of a row, value[0] = epsilon
#include "tensor/ops/layer_norm.h"

#include <math.h>

enum { X, WEIGHT, BIAS }; // inputs; and outputs:
enum { Y, MEAN, RSTD };

Tensor *tensor_layer_norm(Tensor *x, Shape row, Tensor *weight, Tensor *bias, float epsilon) {
    OpParams params = {.value = {epsilon}, .shape = row};
    return OP_RUN(op_layer_norm, &params, x, weight, bias);
}

static bool ends_in(const Tensor *x, Shape row) {
    if (row.ndim > x->shape.ndim) return false;
    for (int i = 0; i < row.ndim; i++)
        if (x->shape.dims[x->shape.ndim - row.ndim + i] != row.dims[i]) return false;
    return true;
}

Status norm_check_epsilon(const OpCall *call) {
    if (call->params.value[0] >= 0.0f) return STATUS_OK;
    return op_error(call, STATUS_INVALID_ARGUMENT,
                    "epsilon is %g. HINT: a small number, such as 1e-5",
                    (double)call->params.value[0]);
}

Status norm_check_row(const OpCall *call) {
    Shape row = call->params.shape;
    if (row.ndim < 1 || row.ndim > TENSOR_MAX_DIMS)
        return op_error(call, STATUS_SHAPE,
                        "a row of %d dimensions. HINT: at least one, such as SHAPE(768)", row.ndim);
    char text[SHAPE_TEXT];
    if (!ends_in(call->in[X], row))
        return op_error(call, STATUS_SHAPE, "x does not end in %s. HINT: a row is x's last sizes",
                        shape_text(row, text));
    for (int i = WEIGHT; i < call->n_in; i++)
        if (call->in[i] && !shape_equal(call->in[i]->shape, row))
            return op_error(call, STATUS_SHAPE, "the %s is not %s. HINT: it has the shape of a row",
                            i == WEIGHT ? "weight" : "bias", shape_text(row, text));
    return norm_check_epsilon(call);
}

static Status layer_norm_infer(OpCall *call) {
    if (norm_check_row(call)) return error_status();
    Shape rows = call->in[X]->shape;
    rows.ndim -= call->params.shape.ndim;
    Status status = op_output_like(call, Y, call->in[X]);
    if (!status) status = op_output(call, MEAN, DTYPE_FLOAT32, rows);
    return status ? status : op_output(call, RSTD, DTYPE_FLOAT32, rows);
}

// ---- the kernel: a row is read once, and while it is in cache twice more ------------------------
Moments norm_moments_in_double(const float *x, int64_t n) {
    double mean = 0.0, variance = 0.0;
    for (int64_t j = 0; j < n; j++) mean += (double)x[j];
    mean /= (double)n; // at the end: equal numbers have no variance
    for (int64_t j = 0; j < n; j++) {
        double d = (double)x[j] - mean;
        variance += d * d / (double)n;
    }
    float about = (float)mean;
    return (Moments){about, (float)(mean - (double)about), variance};
}

static OpWork layer_norm_work(const OpCall *call) {
    int64_t n = norm_rows_of(call->in[X], &call->params).n;
    return (OpWork){.items = call->out[MEAN]->numel, .cost = (double)(n ? n : 1)};
}

KERNEL static Status layer_norm_cpu(const OpCall *call, int64_t begin, int64_t end) {
    int64_t n = norm_rows_of(call->in[X], &call->params).n;
    const float *weight = call->in[WEIGHT] ? call_in(call, WEIGHT) : NULL;
    const float *bias = call->in[BIAS] ? call_in(call, BIAS) : NULL;
    for (int64_t r = begin; r < end; r++) {
        const float *x = call_in(call, X) + r * n;
        float *y = call_out(call, Y) + r * n;
        Moments m = norm_moments(x, n);
        float rstd = (float)(1.0 / sqrt(m.variance + (double)call->params.value[0]));
        call_out(call, MEAN)[r] = m.about + m.rest;
        call_out(call, RSTD)[r] = rstd;
        norm_write(x, y, n, m, rstd, weight, bias);
    }
    return STATUS_OK;
}

// ---- backward ----------------------------------------------------------------------------------
static unsigned layer_norm_saves(const OpCall *call) {
    bool input = call_needs(call, X), weight = call_needs(call, WEIGHT);
    unsigned saves = input || weight ? SAVE_IN(X) | SAVE_OUT(MEAN) | SAVE_OUT(RSTD) : 0;
    return input && call->in[WEIGHT] ? saves | SAVE_IN(WEIGHT) : saves;
}

// dbias where no dweight goes with it: dy, as a matrix of rows, summed over them.
static Status bias_backward(Tensor **slot, Tensor *grad, const Tensor *bias) {
    int64_t n = bias->numel, rows = n ? grad->numel / n : 0;
    if (*slot && !(*slot = tensor_reshape(*slot, SHAPE(n)))) return error_status();
    OpParams over_rows = {.dim = 0};
    if (OP_INTO(slot, op_sum, &over_rows, tensor_reshape(grad, SHAPE(rows, n))))
        return error_status();
    *slot = tensor_reshape(*slot, bias->shape);
    return *slot ? STATUS_OK : error_status();
}

static Status layer_norm_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    Tensor *grad = grad_out[Y], *x = saved->in[X], *weight = saved->in[WEIGHT];
    Tensor *mean = saved->out[MEAN], *rstd = saved->out[RSTD];
    OpParams params = saved->params;
    if (call_needs(saved, X) &&
        OP_INTO(&grad_in[X], op_layer_norm_backward, &params, grad, x, weight, mean, rstd))
        return error_status();
    bool bias = call_needs(saved, BIAS);
    if (!call_needs(saved, WEIGHT))
        return bias ? bias_backward(&grad_in[BIAS], grad, saved->in[BIAS]) : STATUS_OK;
    params.flags = bias ? NORM_WITH_BIAS : 0;
    Tensor **slots[] = {&grad_in[WEIGHT], &grad_in[BIAS]};
    return op_run_into_each(slots, bias ? 2 : 1, &op_layer_norm_backward_weight, &params,
                            OP_INPUTS(grad, x, mean, rstd));
}

static void layer_norm_vary(OpStory *story, const OpParams *params, unsigned given) {
    bool weight = given & SAVE_IN(WEIGHT), bias = given & SAVE_IN(BIAS);
    (void)params;
    if (weight) story->elementwise.each++;
    if (bias) story->bias = (OpRule){PER_OUTPUT, .each = 1};
#define RSTD_FORMULA ", rstd = 1 / sqrt(variance + epsilon)"
    story->formula = weight && bias ? "y = (x - mean) rstd weight + bias" RSTD_FORMULA
                     : weight       ? "y = (x - mean) rstd weight" RSTD_FORMULA
                     : bias         ? "y = (x - mean) rstd + bias" RSTD_FORMULA
                                    : "y = (x - mean) rstd" RSTD_FORMULA;
#undef RSTD_FORMULA
}

// Per row of n: for the mean n - 1 adds and a division, for x - mean n, for the variance n
// products, n - 1 adds and a division, for rstd an add and the root; for y n products, and with a
// weight n more. A bias counts as one.
const Op op_layer_norm = {
    .id = OP_layer_norm,
    .name = "layer_norm",
    .kernel = layer_norm_cpu,
    .n_inputs = 3,
    .optional = SAVE_IN(WEIGHT) | SAVE_IN(BIAS),
    .infer = layer_norm_infer,
    .work = layer_norm_work,
    .backward = layer_norm_backward,
    .saves = layer_norm_saves,
    .story =
        STORY(.formula = "y = (x - mean) rstd, rstd = 1 / sqrt(variance + epsilon)", .out = "y",
              .in = {"x", "weight", "bias"}, .elementwise = {PER_BLOCK, .each = 5, .more = 1},
              .transcendental = {PER_BLOCK, .more = 1}, .extra = "mean and rstd of a row",
              .extra_bytes = {PER_BLOCK, .more = 8}, .keeps = KEEP_X | KEEP_EXTRA,
              .kind = KIND_NORM, .vary = layer_norm_vary)};
