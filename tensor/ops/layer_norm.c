// layer_norm.c -- y = (x - mean) rstd weight + bias: mean and rstd = 1 / sqrt(variance + epsilon)
// of each row; a row is all elements of the last dimensions (Ba, Kiros, Hinton 2016)
// params: shape = shape of a row, value[0] = epsilon
#include "tensor/ops/layer_norm.h"

#include <math.h>

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
    if (!ends_in(call->in[NORM_X], row))
        return op_error(call, STATUS_SHAPE, "x does not end in %s. HINT: a row is x's last sizes",
                        shape_text(row, text));
    for (int i = NORM_WEIGHT; i < call->n_in; i++)
        if (call->in[i] && !shape_equal(call->in[i]->shape, row))
            return op_error(call, STATUS_SHAPE, "the %s is not %s. HINT: it has the shape of a row",
                            i == NORM_WEIGHT ? "weight" : "bias", shape_text(row, text));
    return norm_check_epsilon(call);
}

static Status layer_norm_infer(OpCall *call) {
    if (norm_check_row(call)) return error_status();
    Shape rows = call->in[NORM_X]->shape;
    rows.ndim -= call->params.shape.ndim;
    Status status = op_output_like(call, NORM_Y, call->in[NORM_X]);
    if (!status) status = op_output(call, NORM_MEAN, DTYPE_FLOAT32, rows);
    return status ? status : op_output(call, NORM_RSTD, DTYPE_FLOAT32, rows);
}

// ---- the kernel: reads a row once, and twice more while it is in cache --------------------------
Moments norm_moments_in_double(const float *x, int64_t n) {
    double mean = 0.0, variance = 0.0;
    for (int64_t j = 0; j < n; j++) mean += (double)x[j];
    mean /= (double)n; // divides last: then equal numbers have variance 0
    for (int64_t j = 0; j < n; j++) {
        double d = (double)x[j] - mean;
        variance += d * d / (double)n;
    }
    float about = (float)mean;
    return (Moments){about, (float)(mean - (double)about), variance};
}

static OpWork layer_norm_work(const OpCall *call) {
    int64_t n = norm_rows_of(call->in[NORM_X], &call->params).n;
    return (OpWork){.items = call->out[NORM_MEAN]->numel, .cost = (double)(n ? n : 1)};
}

KERNEL static Status layer_norm_cpu(const OpCall *call, int64_t begin, int64_t end) {
    int64_t n = norm_rows_of(call->in[NORM_X], &call->params).n;
    const float *weight = call->in[NORM_WEIGHT] ? call_in(call, NORM_WEIGHT) : NULL;
    const float *bias = call->in[NORM_BIAS] ? call_in(call, NORM_BIAS) : NULL;
    double epsilon = (double)call->params.value[0];
    for (int64_t r = begin; r < end; r++) {
        const float *x = call_in(call, NORM_X) + r * n;
        float *y = call_out(call, NORM_Y) + r * n;
        Moments m = norm_moments(x, n, epsilon);
        float rstd = (float)(1.0 / sqrt(m.variance + epsilon));
        call_out(call, NORM_MEAN)[r] = m.about + m.rest;
        call_out(call, NORM_RSTD)[r] = rstd;
        norm_write(x, y, n, m, rstd, weight, bias);
    }
    return STATUS_OK;
}

// ---- backward ----------------------------------------------------------------------------------
unsigned norm_saves(const OpCall *call) {
    bool input = call_needs(call, NORM_X), weight = call_needs(call, NORM_WEIGHT);
    unsigned saves =
        input || weight ? SAVE_IN(NORM_X) | SAVE_OUT(NORM_MEAN) | SAVE_OUT(NORM_RSTD) : 0;
    return input && call->in[NORM_WEIGHT] ? saves | SAVE_IN(NORM_WEIGHT) : saves;
}

Status norm_run_backward(const OpCall *saved, Tensor *grad, Tensor *grad_in[], const Op *of_x,
                         const Op *of_weight) {
    Tensor *x = saved->in[NORM_X], *weight = saved->in[NORM_WEIGHT];
    Tensor *mean = saved->out[NORM_MEAN], *rstd = saved->out[NORM_RSTD];
    OpParams params = saved->params;
    if (call_needs(saved, NORM_X) &&
        OP_INTO(&grad_in[NORM_X], *of_x, &params, grad, x, weight, mean, rstd))
        return error_status();
    if (!call_needs(saved, NORM_WEIGHT)) return STATUS_OK;
    bool bias = call_needs(saved, NORM_BIAS);
    params.flags = bias ? NORM_WITH_BIAS : 0;
    Tensor **slots[] = {&grad_in[NORM_WEIGHT], &grad_in[NORM_BIAS]};
    return op_run_into_each(slots, bias ? 2 : 1, of_weight, &params,
                            OP_INPUTS(grad, x, mean, rstd));
}

// dbias, if dweight is not wanted: dy, as a matrix of rows, summed over them.
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
    Status status = norm_run_backward(saved, grad_out[NORM_Y], grad_in, &op_layer_norm_backward,
                                      &op_layer_norm_backward_weight);
    if (status || !norm_wants_bias_alone(saved)) return status;
    return bias_backward(&grad_in[NORM_BIAS], grad_out[NORM_Y], saved->in[NORM_BIAS]);
}

void norm_vary(OpStory *story, const OpParams *params, unsigned given) {
    bool weight = given & SAVE_IN(NORM_WEIGHT), bias = given & SAVE_IN(NORM_BIAS);
    (void)params;
    if (weight) story->elementwise.each++;
    if (bias) story->bias = (OpRule){PER_OUTPUT, .each = 1};
#define RSTD ", rstd = 1 / sqrt(variance + epsilon)"
    story->formula = weight && bias ? "y = (x - mean) rstd weight + bias" RSTD
                     : weight       ? "y = (x - mean) rstd weight" RSTD
                     : bias         ? "y = (x - mean) rstd + bias" RSTD
                                    : "y = (x - mean) rstd" RSTD;
#undef RSTD
}

// Per row of n: for the mean n - 1 adds and a division, for x - mean n, for the variance n
// products, n - 1 adds and a division, for rstd an add and the root; for y n products, and with a
// weight n more. The bias counts on its own.
const Op op_layer_norm = {
    .id = OP_layer_norm,
    .name = "layer_norm",
    .kernel = layer_norm_cpu,
    .n_inputs = 3,
    .optional = SAVE_IN(NORM_WEIGHT) | SAVE_IN(NORM_BIAS),
    .infer = layer_norm_infer,
    .work = layer_norm_work,
    .backward = layer_norm_backward,
    .saves = norm_saves,
    .story =
        STORY(.formula = "y = (x - mean) rstd, rstd = 1 / sqrt(variance + epsilon)", .out = "y",
              .in = {"x", "weight", "bias"}, .elementwise = {PER_BLOCK, .each = 5, .more = 1},
              .transcendental = {PER_BLOCK, .more = 1}, .extra = "mean and rstd of a row",
              .extra_elements = {PER_BLOCK, .more = 2}, .keeps = KEEP_X | KEEP_EXTRA,
              .kind = KIND_NORM, .vary = norm_vary)};
