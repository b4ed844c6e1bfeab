// corpus_loader.c -- windows of a text as a loader's source. corpus.c has the text, loader.c
// batches and positions.
#include "layers/files/corpus.h"
#include "layers/train/fingerprint.h"
#include "layers/train/source.h"

#include <stddef.h>

// Draws a start among all places for a window, from the item's own 64 random bits: with that many,
// the remainder's bias is far too small to notice.
static int64_t drawn_start(uint64_t seed, int64_t item, int64_t places) {
    uint32_t bits[2];
    random_bits(seed, 0, 2 * item, 2 * item + 2, bits);
    return (int64_t)(((uint64_t)bits[1] << 32 | bits[0]) % (uint64_t)places);
}

static void fill_window(const LoaderSource *source, const LoaderOptions *options, int64_t item,
                        void *x, int64_t *labels) {
    const Corpus *corpus = source->data;
    int64_t tokens = source->sample.dims[0], *ids = x;
    int64_t start =
        options->shuffle ? drawn_start(options->seed, item, corpus->count - tokens) : item * tokens;
    for (int64_t i = 0; i < tokens; i++) {
        ids[i] = corpus->ids[start + i];
        labels[i] = corpus->ids[start + i + 1];
    }
}

static uint64_t fingerprint(const LoaderSource *source, const LoaderOptions *options) {
    (void)options;
    const Corpus *corpus = source->data;
    int64_t tokens = source->sample.dims[0];
    uint64_t hash = fingerprint_add(0, corpus->symbols, (size_t)corpus->vocabulary);
    hash = fingerprint_add(hash, &tokens, sizeof(tokens));
    return fingerprint_add(hash, corpus->ids, (size_t)corpus->count);
}

Loader *corpus_loader_new(const Corpus *corpus, int64_t tokens, LoaderOptions options) {
    if (error_pending()) return NULL;
    if (!corpus || !corpus->ids || tokens < 1 || corpus->count <= tokens) {
        error_set(STATUS_INVALID_ARGUMENT,
                  "text: a window of %lld symbols and the one behind it does not fit into %lld. "
                  "HINT: from 1 to all but one",
                  (long long)tokens, (long long)(corpus ? corpus->count : 0));
        return NULL;
    }
    LoaderSource windows = {.data = corpus,
                            .size = sizeof(*corpus),
                            .name = offsetof(Corpus, name),
                            .bytes = corpus->ids,
                            .samples = (corpus->count - 1) / tokens,
                            .sample = SHAPE(tokens),
                            .label = SHAPE(tokens),
                            .dtype = DTYPE_INT64,
                            .numbered = true,
                            .fill = fill_window,
                            .fingerprint = fingerprint};
    return loader_new_from(windows, options);
}
