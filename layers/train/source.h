// source.h -- internal: what a loader takes its samples from. Which there are: dataset.c (images),
// corpus_loader.c (windows of a text).
#ifndef LAYERS_TRAIN_SOURCE_H
#define LAYERS_TRAIN_SOURCE_H

#include "layers/train/dataset.h"

typedef struct LoaderSource {
    const void *data;    // borrowed
    const char *name;    // of the data, for messages; borrowed
    int64_t samples;     // in an epoch
    Shape sample, label; // of one of them: x; its labels, int64
    DType dtype;         // of x
    // Shuffled, an epoch has no order of its items 0 to samples - 1: they are numbered on from
    // those of the epoch before, and `fill` draws by the number.
    bool numbered;
    // Writes one sample. Runs in the loader's thread, if it has one: must not fail, allocate or
    // call an op.
    void (*fill)(const struct LoaderSource *source, const LoaderOptions *options, int64_t item,
                 void *x, int64_t *labels);
    // Of all the data, and of what else samples are made by; fingerprint.h.
    uint64_t (*fingerprint)(const struct LoaderSource *source, const LoaderOptions *options);
} LoaderSource;

// As loader_new.
Loader *loader_new_from(LoaderSource source, LoaderOptions options);

#endif
