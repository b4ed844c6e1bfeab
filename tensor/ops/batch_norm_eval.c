// batch_norm_eval.c -- y = (x - mean) rstd weight + bias in evaluation: uses running statistics
// without changing them; rstd = 1 / sqrt(variance + epsilon). params: value[0] = epsilon
#include "tensor/ops/batch_norm.h"

#include <math.h>

enum { X, WEIGHT, BIAS, MEAN, VARIANCE }; // inputs
enum { Y };                               // output

Tensor *tensor_batch_norm_eval(Tensor *x, Tensor *weight, Tensor *bias, float epsilon,
                               RunningStatistics running) {
    OpParams params = {.value = {epsilon}};
    return OP_RUN(op_batch_norm_eval, &params, x, weight, bias, running.mean, running.variance);
}

static Status eval_infer(OpCall *call) {
    return batch_norm_check(call) ? error_status() : op_output_like(call, Y, call->in[X]);
}

static OpWork eval_work(const OpCall *call) { // items: planes, or channels
    Channels of = channels_of(call->in[X]);
    if (channels_are_narrow(of)) return channels_work(of);
    return (OpWork){.items = of.samples * of.count, .cost = (double)of.plane};
}

static Affine eval_affine(const OpCall *call, int64_t c) {
    double variance = (double)call_in(call, VARIANCE)[c];
    float rstd = (float)(1.0 / sqrt(variance + (double)call->params.value[0]));
    return (Affine){call_in(call, MEAN)[c], 0.0f, rstd * number_or(call, WEIGHT, c, 1.0f),
                    number_or(call, BIAS, c, 0.0f)};
}

KERNEL static Status batch_norm_eval_cpu(const OpCall *call, int64_t begin, int64_t end) {
    Channels of = channels_of(call->in[X]);
    const float *x = call_in(call, X);
    float *y = call_out(call, Y);
    if (!channels_are_narrow(of)) {
        for (int64_t i = begin; i < end; i++)
            affine_plane(x + i * of.plane, y + i * of.plane, of.plane,
                         eval_affine(call, i % of.count));
        return STATUS_OK;
    }
    for (int64_t first = begin, count; first < end; first += count) {
        int64_t most = channels_together(of);
        count = end - first < most ? end - first : most;
        AffineTile tile;
        for (int64_t c = 0; c < count; c++)
            affine_tile_set(&tile, c * of.plane, of.plane, eval_affine(call, first + c));
        affine_columns(x + first * of.plane, y + first * of.plane, of, count * of.plane, &tile);
    }
    return STATUS_OK;
}

// ---- backward ----------------------------------------------------------------------------------
static unsigned eval_saves(const OpCall *call) { // dx needs no x
    bool input = call_needs(call, X), weight = call_needs(call, WEIGHT);
    unsigned saves = input || weight ? SAVE_IN(VARIANCE) : 0;
    if (weight) saves |= SAVE_IN(X) | SAVE_IN(MEAN);
    return input && call->in[WEIGHT] ? saves | SAVE_IN(WEIGHT) : saves;
}

static Status eval_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    bool input = call_needs(saved, X), weight = call_needs(saved, WEIGHT);
    Tensor *in[] = {grad_out[Y], weight ? saved->in[X] : NULL, input ? saved->in[WEIGHT] : NULL,
                    weight ? saved->in[MEAN] : NULL, input || weight ? saved->in[VARIANCE] : NULL};
    return batch_norm_run_backward(&op_batch_norm_eval_backward, saved, grad_in, in);
}

// Per channel, for rstd an add and the root; per element 2, and with a weight one more.
const Op op_batch_norm_eval = {
    .id = OP_batch_norm_eval,
    .name = "batch_norm_eval",
    .kernel = batch_norm_eval_cpu,
    .n_inputs = 5,
    .optional = SAVE_IN(WEIGHT) | SAVE_IN(BIAS),
    .infer = eval_infer,
    .work = eval_work,
    .backward = eval_backward,
    .saves = eval_saves,
    .story = STORY(.formula = "y = (x - mean) rstd, rstd = 1 / sqrt(variance + epsilon)",
                   .out = "y", .in = {"x", "weight", "bias", "mean", "variance"},
                   .elementwise = {PER_CHANNEL, .each = 2, .more = 1},
                   .transcendental = {PER_CHANNEL, .more = 1}, .keeps = KEEP_X,
                   .kind = KIND_NORM_EVAL, .vary = norm_vary)};
