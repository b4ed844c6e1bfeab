// source.h -- internal: the sources from which a loader takes its samples: dataset.c (images) and
// corpus_loader.c (windows of a text).
#ifndef LAYERS_TRAIN_SOURCE_H
#define LAYERS_TRAIN_SOURCE_H

#include "layers/train/dataset.h"

typedef struct LoaderSource {
    const void *data;    // its description: a Dataset, a Corpus; the loader copies it
    size_t size;         // bytes of the description
    size_t name;         // offset in it of the data's name, for messages
    const void *bytes;   // read by `fill`, borrowed: once freed, the loader refuses
    int64_t samples;     // in an epoch
    Shape sample, label; // of one sample: x; its labels, int64
    DType dtype;         // of x
    // True: with `shuffle`, sample numbers go on from epoch to epoch in place of an order of 0 to
    // samples - 1, and `fill` draws by the number.
    bool numbered;
    // Writes one sample. Runs in the loader's thread, if it has one: must not fail, allocate or
    // call an op.
    void (*fill)(const struct LoaderSource *source, const LoaderOptions *options, int64_t item,
                 void *x, int64_t *labels);
    // Hashes all the data and the other inputs of samples; fingerprint.h.
    uint64_t (*fingerprint)(const struct LoaderSource *source, const LoaderOptions *options);
} LoaderSource;

// A reader of borrowed data. The data's owner calls source_bytes_go before freeing it, which calls
// `gone` for each borrower that is still added: from then on it must not read the data.
typedef struct Borrower {
    const void *bytes;
    void (*gone)(struct Borrower *self);
    struct Borrower *next, **link; // link NULL: not added
} Borrower;
void borrower_add(Borrower *self);
void borrower_remove(Borrower *self); // does nothing where it is not added
void source_bytes_go(const void *bytes);

// As loader_new.
Loader *loader_new_from(LoaderSource source, LoaderOptions options);

#endif
