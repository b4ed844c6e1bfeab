// op_calls_network.c -- more of op_calls.c: norms, recurrent passes and attention, whose arguments
// are more than tensors and a number.
#include <math.h>

#include "tensor/context.h"
#include "tests/ops/op_cases.h"

// Inputs: sums, weight, optional bias, hidden, cell. dim 0: hidden states, 1: cells, 2: their sum.
static Tensor *call_lstm(Tensor *const in[], int n_in, const OpArguments *a) {
    Tensor *cells, *bias = n_in > 4 ? in[2] : NULL;
    Tensor *y = tensor_lstm(in[0], in[1], bias, in[n_in - 2], in[n_in - 1], a->flag, &cells);
    return a->dim == 0 ? y : a->dim == 1 ? cells : tensor_add(y, cells);
}

// Inputs: sums, weight, optional bias, hidden.
static Tensor *call_gru(Tensor *const in[], int n_in, const OpArguments *a) {
    return tensor_gru(in[0], in[1], n_in > 3 ? in[2] : NULL, in[n_in - 1], a->flag);
}

// Inputs: sums, weight, optional bias, hidden. With dim 1 the activation is relu.
static Tensor *call_rnn(Tensor *const in[], int n_in, const OpArguments *a) {
    return tensor_rnn(in[0], in[1], n_in > 3 ? in[2] : NULL, in[n_in - 1], a->dim == 1, a->flag);
}

// Rows are the last a->dim dimensions. The inputs are x, weight and bias; with the flag x and bias.
static Tensor *call_layer_norm(Tensor *const in[], int n_in, const OpArguments *a) {
    Shape row = {.ndim = a->dim};
    for (int i = 0; i < a->dim && a->dim <= in[0]->shape.ndim; i++)
        row.dims[i] = in[0]->shape.dims[in[0]->shape.ndim - a->dim + i];
    Tensor *weight = n_in > 1 && !a->flag ? in[1] : NULL;
    Tensor *bias = n_in > 2 ? in[2] : n_in > 1 && a->flag ? in[1] : NULL;
    return tensor_layer_norm(in[0], row, weight, bias, a->value);
}

// Rows are the last a->dim dimensions. The inputs are x and weight.
static Tensor *call_rms_norm(Tensor *const in[], int n_in, const OpArguments *a) {
    Shape row = {.ndim = a->dim};
    for (int i = 0; i < a->dim && a->dim <= in[0]->shape.ndim; i++)
        row.dims[i] = in[0]->shape.dims[in[0]->shape.ndim - a->dim + i];
    return tensor_rms_norm(in[0], row, n_in > 1 ? in[1] : NULL, a->value);
}

// a->dim groups. The inputs are x, weight and bias; with the flag x and bias.
static Tensor *call_group_norm(Tensor *const in[], int n_in, const OpArguments *a) {
    Tensor *weight = n_in > 1 && !a->flag ? in[1] : NULL;
    Tensor *bias = n_in > 2 ? in[2] : n_in > 1 && a->flag ? in[1] : NULL;
    return tensor_group_norm(in[0], a->dim, weight, bias, a->value);
}

// The inputs are x, weight and bias; with the flag x and bias. Running statistics and the number of
// batches are no input of the case: they have no gradient.
static RunningStatistics running_new(const Tensor *x, int batches, float momentum) {
    enum { MOST = 300 };
    float mean[MOST], variance[MOST];
    int64_t channels = x && x->shape.ndim > 1 ? x->shape.dims[1] : 0;
    for (int64_t j = 0; j < channels && j < MOST; j++) {
        mean[j] = 0.25f * (float)(j % 5) - 0.5f;
        variance[j] = 0.5f + 0.25f * (float)(j % 3);
    }
    return (RunningStatistics){tensor_from_floats_new(SHAPE(channels), mean),
                               tensor_from_floats_new(SHAPE(channels), variance),
                               tensor_from_labels_new(SHAPE_SCALAR, (int64_t[]){batches}),
                               momentum};
}

static void running_free(RunningStatistics running) {
    tensor_free(running.mean);
    tensor_free(running.variance);
    tensor_free(running.batches);
}

static Tensor *weight_among(Tensor *const in[], int n_in, const OpArguments *a) {
    return n_in > 1 && !a->flag ? in[1] : NULL;
}
static Tensor *bias_among(Tensor *const in[], int n_in, const OpArguments *a) {
    return n_in > 2 ? in[2] : n_in > 1 && a->flag ? in[1] : NULL;
}

// dim: 0 no running statistics, 1 with them, 2 with a batch count, 3 an average of all batches
static Tensor *call_batch_norm(Tensor *const in[], int n_in, const OpArguments *a) {
    if (!in[0]) return tensor_batch_norm(NULL, NULL, NULL, a->value, (RunningStatistics){0});
    RunningStatistics all = running_new(in[0], 2, a->dim == 3 ? NAN : 0.25f), some = all;
    if (a->dim <= 1) some.batches = NULL;
    if (a->dim <= 0) some.mean = some.variance = NULL;
    Tensor *y = tensor_batch_norm(in[0], weight_among(in, n_in, a), bias_among(in, n_in, a),
                                  a->value, some);
    running_free(all);
    return y;
}

static Tensor *call_batch_norm_eval(Tensor *const in[], int n_in, const OpArguments *a) {
    if (!in[0]) return tensor_batch_norm_eval(NULL, NULL, NULL, a->value, (RunningStatistics){0});
    RunningStatistics running = running_new(in[0], 2, 0.25f);
    Tensor *y = tensor_batch_norm_eval(in[0], weight_among(in, n_in, a), bias_among(in, n_in, a),
                                       a->value, running);
    running_free(running);
    return y;
}

// x (steps, n, channels ...) is one batch per step, with momentum `value`. The result is the
// running mean, the running variance and the number of batches.
static Tensor *call_batch_norm_statistics(Tensor *const in[], int n_in, const OpArguments *a) {
    (void)n_in;
    Shape batch = {.ndim = in[0]->shape.ndim - 1};
    for (int i = 0; i < batch.ndim; i++) batch.dims[i] = in[0]->shape.dims[i + 1];
    RunningStatistics running = {0};
    for (int64_t step = 0; step < in[0]->shape.dims[0]; step++) {
        Tensor *x = tensor_reshape(tensor_slice(in[0], 0, step, step + 1, 1), batch);
        if (step == 0) running = running_new(x, 0, a->value);
        tensor_batch_norm(x, NULL, NULL, 1e-5f, running);
    }
    Tensor *batches = tensor_reshape(tensor_cast(running.batches, DTYPE_FLOAT32), SHAPE(1));
    Tensor *parts[] = {running.mean, running.variance, batches};
    Tensor *all = tensor_concat(parts, 3, 0);
    running_free(running);
    return all;
}

// The mask has no gradient, so it is no input of the case. Its values are 0.25 times 0 to 2, or
// -infinity: for all of row 1, except with ATTEND_KEYS, where all rows are equal.
// tests/fixtures/make_ops.py makes the same mask.
static Tensor *attention_mask_new(const Tensor *q, const Tensor *k, int wanted) {
    enum { MOST = 1 << 16 };
    static float values[MOST];
    int64_t s = q->shape.dims[q->shape.ndim - 2], t = k->shape.dims[k->shape.ndim - 2];
    Shape shape = wanted & ATTEND_KEYS ? SHAPE(t) : SHAPE(s, t);
    if (wanted & ATTEND_BATCH) {
        shape = q->shape;
        shape.dims[shape.ndim - 1] = t;
        if (shape.ndim > 2) shape.dims[shape.ndim - 3] = 1;
    }
    int64_t numel = shape_numel(shape);
    for (int64_t i = 0; i < numel && i < MOST; i++) {
        int64_t row = i / t, column = i % t;
        bool hidden = (row * 7 + column * 5) % 4 == 3;
        if (!(wanted & ATTEND_KEYS)) hidden = hidden || row % 6 == 1;
        values[i] = hidden ? -INFINITY : 0.25f * (float)((row + 2 * column) % 3);
    }
    return numel <= MOST ? tensor_from_floats_new(shape, values) : NULL;
}

static Tensor *call_attention(Tensor *const in[], int n_in, const OpArguments *a) {
    (void)n_in;
    AttentionOptions options = {.scale = a->flag ? 0.5f : 0.0f,
                                .causal = a->dim & ATTEND_CAUSAL,
                                .dropout = a->value};
    bool masked = in[0] && in[1] && a->dim & (ATTEND_KEYS | ATTEND_ROWS | ATTEND_BATCH);
    Tensor *mask = masked ? attention_mask_new(in[0], in[1], a->dim) : NULL;
    context_seed(7);
    Tensor *y = tensor_attention(in[0], in[1], in[2], n_in > 3 ? in[3] : mask, options);
    tensor_free(mask);
    return y;
}

// The tables start at position 2; they are no inputs of the case either.
static Tensor *call_rotary(Tensor *const in[], int n_in, const OpArguments *a) {
    (void)a;
    Tensor *cosines = NULL, *sines = NULL;
    if (n_in > 1) return tensor_rotary(in[0], in[1], in[2]);
    Shape shape = in[0]->shape;
    rotary_tables_new(2, shape.dims[shape.ndim - 2], shape.dims[shape.ndim - 1], 100.0f, &cosines,
                      &sines);
    Tensor *y = tensor_rotary(in[0], cosines, sines);
    tensor_free(cosines);
    tensor_free(sines);
    return y;
}

const NamedFunction op_network_functions[] = {
    {"lstm", call_lstm},
    {"gru", call_gru},
    {"rnn", call_rnn},
    {"layer_norm", call_layer_norm},
    {"rms_norm", call_rms_norm},
    {"group_norm", call_group_norm},
    {"batch_norm", call_batch_norm},
    {"batch_norm_eval", call_batch_norm_eval},
    {"batch_norm_statistics", call_batch_norm_statistics},
    {"attention", call_attention},
    {"rotary", call_rotary},
    {0},
};
