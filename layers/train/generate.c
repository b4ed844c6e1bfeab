// generate.c -- draws token after token from a model's logits.
#include "layers/train/generate.h"

#include <math.h>

#include "tensor/memory.h"
#include "tensor/ops.h"

// The last position's logits (v), yours to memory_free; NULL with an error pending.
static float *last_logits(Layer *model, const int64_t *ids, int64_t n, int64_t *vocabulary) {
    Tensor *x = tensor_from_labels_new(SHAPE(1, n), ids);
    Scope *scope = scope_open();
    Tensor *y = x ? layer_forward(model, x) : NULL; // (1, n, v)
    if (y && (y->shape.ndim != 3 || y->shape.dims[1] != n))
        error_set(STATUS_SHAPE,
                  "generate: of ids (1, %lld) the model makes no logits (1, %lld, v). HINT: a "
                  "model of the next token, as gpt2_new",
                  (long long)n, (long long)n);
    Tensor *row = error_pending() ? NULL : tensor_slice(y, 1, n - 1, n, 1); // (1, 1, v)
    float *logits = row ? memory_new((size_t)row->numel * sizeof(float)) : NULL;
    if (logits) *vocabulary = row->numel;
    if (logits && tensor_read_floats(row, logits)) {
        memory_free(logits);
        logits = NULL;
    }
    scope_close(scope);
    tensor_free(x);
    return logits;
}

static int64_t likeliest(const float *logits, int64_t n) {
    int64_t best = 0;
    for (int64_t i = 1; i < n; i++)
        if (logits[i] > logits[best]) best = i;
    return best;
}

// By softmax(logits / temperature); -1: they are not finite.
static int64_t draw(const float *logits, int64_t n, double temperature) {
    int64_t best = likeliest(logits, n);
    double sum = 0.0, below = 0.0;
    for (int64_t i = 0; i < n; i++) sum += exp((double)(logits[i] - logits[best]) / temperature);
    if (!isfinite(sum)) return -1;
    double at = sum * (double)random_next_uniform(&context_current()->random);
    for (int64_t i = 0; i < n; i++) {
        below += exp((double)(logits[i] - logits[best]) / temperature);
        if (at < below) return i;
    }
    return best; // rounding
}

static Status next(Layer *model, GenerateOptions options, int64_t *ids, int64_t at) {
    int64_t seen = at < options.window ? at : options.window, vocabulary = 0;
    float *logits = last_logits(model, ids + at - seen, seen, &vocabulary);
    if (!logits) return error_status();
    ids[at] = options.temperature > 0.0f ? draw(logits, vocabulary, (double)options.temperature)
                                         : likeliest(logits, vocabulary);
    memory_free(logits);
    if (ids[at] >= 0) return STATUS_OK;
    return error_set(STATUS_NON_FINITE,
                     "generate: token %lld: the logits are not finite. HINT: --weights shows where",
                     (long long)at);
}

Status generate_tokens(Layer *model, GenerateOptions options, int64_t *ids, int64_t given,
                       int64_t count) {
    if (error_pending()) return error_status();
    if (!model || !ids || given < 1 || options.window < 1 || !(options.temperature >= 0.0f))
        return error_set(STATUS_INVALID_ARGUMENT,
                         "generate: %lld tokens given, a window of %lld, temperature %g. HINT: a "
                         "model, 1 or more of each, a temperature from 0 on",
                         (long long)given, (long long)options.window, (double)options.temperature);
    LayerModes modes;
    if (layer_modes_save(model, &modes)) return error_status();
    layer_train(model, false);
    no_grad_begin();
    for (int64_t at = given; at < count && !error_pending(); at++) {
        if (!next(model, options, ids, at) && options.progress)
            options.progress(options.argument, at + 1 - given);
    }
    no_grad_end();
    layer_modes_restore(model, &modes);
    return error_status();
}
