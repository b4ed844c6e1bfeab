// source.h -- internal: what a loader takes its samples from. Which there are: dataset.c (images),
// corpus_loader.c (windows of a text).
#ifndef LAYERS_TRAIN_SOURCE_H
#define LAYERS_TRAIN_SOURCE_H

#include "layers/train/dataset.h"

typedef struct LoaderSource {
    const void *data;    // what describes it: a Dataset, a Corpus. The loader copies it
    size_t size;         // of that
    size_t name;         // where in it the data's name is, for messages
    const void *bytes;   // what `fill` reads, borrowed: when it goes, the loader refuses
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

// Who reads data that is another's. Its owner says source_bytes_go before it frees it, and `gone`
// is called of each who was added and not removed: it reads none of it from then on.
typedef struct Borrower {
    const void *bytes;
    void (*gone)(struct Borrower *self);
    struct Borrower *next, **link; // link NULL: it is not added
} Borrower;
void borrower_add(Borrower *self);
void borrower_remove(Borrower *self); // not added: nothing
void source_bytes_go(const void *bytes);

// As loader_new.
Loader *loader_new_from(LoaderSource source, LoaderOptions options);

#endif
