// generate.c -- draws token after token from a model's logits.
#include "layers/train/generate.h"

#include <math.h>

#include "layers/kv_cache.h"
#include "tensor/memory.h"
#include "tensor/ops.h"

typedef struct Writer {
    Layer *model;
    GenerateOptions options;
    KvCache *cache; // NULL: no cache
} Writer;

// Runs the model on the tokens before `at`. With a cache it sees only new ones, until the window
// moves: then all positions change.
static Tensor *see(const Writer *writer, const int64_t *ids, int64_t at, Tensor **x) {
    int64_t window = writer->options.window, seen = at < window ? at : window;
    bool cached = writer->cache && at <= window;
    if (cached) seen = at - kv_cache_length(writer->cache);
    *x = tensor_from_labels_new(SHAPE(1, seen), ids + at - seen);
    if (!*x) return NULL;
    Tensor *y = cached ? kv_cache_forward(writer->cache, *x) : layer_forward(writer->model, *x);
    if (!y || (y->shape.ndim == 3 && y->shape.dims[1] == seen))
        return y ? tensor_slice(y, 1, seen - 1, seen, 1) : NULL; // (1, 1, v)
    error_set(STATUS_SHAPE,
              "generate: of ids (1, %lld) the model makes no logits (1, %lld, v). HINT: a "
              "model of the next token, as gpt2_new",
              (long long)seen, (long long)seen);
    return NULL;
}

// The last position's logits (v), yours to memory_free; NULL with an error pending.
static float *last_logits(const Writer *writer, const int64_t *ids, int64_t at,
                          int64_t *vocabulary) {
    Tensor *x = NULL;
    Scope *scope = scope_open();
    Tensor *row = scope ? see(writer, ids, at, &x) : NULL;
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

// The index of the largest logit; -1: one of them is NaN.
static int64_t likeliest(const float *logits, int64_t n) {
    int64_t best = 0;
    for (int64_t i = 0; i < n; i++) {
        if (isnan(logits[i])) return -1;
        if (logits[i] > logits[best]) best = i;
    }
    return best;
}

// Draws by softmax(logits / temperature); -1: the logits are not finite.
static int64_t draw(const float *logits, int64_t n, double temperature) {
    int64_t best = likeliest(logits, n);
    if (best < 0) return best;
    double sum = 0.0, below = 0.0;
    for (int64_t i = 0; i < n; i++) sum += exp((double)(logits[i] - logits[best]) / temperature);
    if (!isfinite(sum)) return -1;
    double at = sum * (double)random_next_uniform(&context_current()->random);
    for (int64_t i = 0; i < n; i++) {
        below += exp((double)(logits[i] - logits[best]) / temperature);
        if (at < below) return i;
    }
    return best; // reached through rounding only
}

static Status next(const Writer *writer, int64_t *ids, int64_t at) {
    double temperature = (double)writer->options.temperature;
    int64_t vocabulary = 0;
    float *logits = last_logits(writer, ids, at, &vocabulary);
    if (!logits) return error_status();
    ids[at] =
        temperature > 0.0 ? draw(logits, vocabulary, temperature) : likeliest(logits, vocabulary);
    memory_free(logits);
    if (ids[at] >= 0) return STATUS_OK;
    return error_set(STATUS_NON_FINITE,
                     "generate: token %lld: the logits are not finite. HINT: --weights shows where",
                     (long long)at);
}

static Status write_all(Writer *writer, int64_t *ids, int64_t given, int64_t count) {
    const GenerateOptions *options = &writer->options;
    int64_t room = count - 1 < options->window ? count - 1 : options->window; // positions seen
    if (given <= room && !options->no_cache && kv_cache_fits(writer->model))
        writer->cache = kv_cache_new(writer->model, 1, room);
    for (int64_t at = given; at < count && !error_pending(); at++)
        if (!next(writer, ids, at) && options->progress)
            options->progress(options->argument, at + 1 - given);
    kv_cache_free(writer->cache);
    return error_status();
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
    Writer writer = {.model = model, .options = options};
    write_all(&writer, ids, given, count);
    no_grad_end();
    layer_modes_restore(model, &modes);
    return error_status();
}
