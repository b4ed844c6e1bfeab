// dataset.h -- labelled images in host memory, and loaders, which make batches as tensors of these
// or of a text (corpus.h). Sources of images: idx.h (MNIST folders), digits.h (drawn, no download).
#ifndef LAYERS_TRAIN_DATASET_H
#define LAYERS_TRAIN_DATASET_H

#include "tensor/random.h"
#include "tensor/tensor.h"

RIDGEPOINT_API_BEGIN

typedef struct Dataset {
    int64_t count;         // images
    int64_t rows, columns; // of one image
    int classes;           // labels are in [0, classes)
    uint8_t *images;       // count x rows x columns, 0 black .. 255 white; owned
    uint8_t *labels;       // count; owned
    char name[160];        // for reports: "generated digits", a folder
} Dataset;

void dataset_free(Dataset *dataset); // frees what it holds, not the struct; safe on {0}
// Moves the last `held_out` images into *rest (a shuffle by `seed` first, when it is not 0). On
// failure the dataset is unchanged and *rest empty.
Status dataset_split(Dataset *dataset, int64_t held_out, uint64_t seed, Dataset *rest);

// Gives batches in the order of a fresh shuffle per epoch. The two tensors are made once, on the
// context's device, and refilled: the caller borrows them until the next call. A loader and its
// dataset belong to one thread. With `prefetch`, the loader's own thread reads and converts the
// next images in the meantime, into host memory outside the ledger; the batches are the same, bit
// for bit. A child of fork() must neither use nor free such a loader of its parent's: the thread
// stayed with the parent.
typedef struct Loader Loader;
enum { LOADER_MAX_PREFETCH = 64 };
typedef struct LoaderOptions {
    int64_t batch; // images per batch, >= 1
    bool shuffle;
    bool drop_last;    // leave out a last batch that is not full; else deliver it smaller
    uint64_t seed;     // of the shuffles
    float mean, scale; // pixel p becomes (p / 255 - mean) * scale; scale 0: 1
    int prefetch;      // batches kept ready, <= LOADER_MAX_PREFETCH; 0: no thread
    bool planes;       // images as (batch, 1, rows, columns), for convolutions
} LoaderOptions;
typedef struct Batch {
    Tensor *images; // (batch, rows * columns) float32, or as `planes` says; for a text int64 ids
    Tensor *labels; // (batch) int64; for a text (batch, tokens)
    int64_t count;
} Batch;
// Borrows the dataset's images and labels, not the struct; starts at the first epoch. If
// dataset_free or dataset_split frees them first, loader_next refuses (STATUS_STATE). NULL with an
// error pending when there would be no batch at all.
Loader *loader_new(const Dataset *dataset, LoaderOptions options);
void loader_free(Loader *loader);
void loader_start_epoch(Loader *loader); // reshuffles, rewinds
// Fills *batch; false at the end of the epoch, or on failure with an error pending. On the meta
// device only the shapes are real. It counts as a write in place: a backward that still needs the
// previous batch is refused.
bool loader_next(Loader *loader, Batch *batch);
int64_t loader_batches(const Loader *loader); // per epoch

// A loader's position, and the settings and data that give it a meaning.
typedef struct LoaderPosition {
    int64_t epoch;              // epochs started: 1 from loader_new on
    int64_t batch;              // batches delivered in this epoch
    int64_t images, batch_size; // images, or windows of a text, in an epoch
    uint64_t seed;
    bool shuffle, drop_last;
    // Hash of the data, taken when a position was first asked for, and of the other inputs of
    // samples: mean and scale, or a window's length.
    uint64_t fingerprint;
    char data[160]; // name of the data, for messages; not compared
} LoaderPosition;
enum { LOADER_MOST_EPOCHS = 1000000 }; // most epochs that a seek can pass
LoaderPosition loader_position(const Loader *loader);
// Moves to a position; from then on the loader delivers the same as one that got there batch by
// batch. It takes the time of the shuffles on the way. STATUS_INVALID_ARGUMENT, with nothing
// changed: no such position, or one of another loader or other data.
Status loader_seek(Loader *loader, LoaderPosition position);

// Counts since loader_new. Filling (in the thread, or without one in loader_next) reads and
// converts images in a single pass, so that both share one time.
typedef struct LoaderCounts {
    int64_t batches;           // delivered
    int prefetch;              // 0: no thread (not wanted, not startable, or the meta device)
    double wait_seconds;       // loader_next slept until the thread had a batch
    double preprocess_seconds; // also of batches that a restart threw away
    double average_depth;      // batches ready when loader_next asked; 0 without a thread
    int max_depth;
} LoaderCounts;
LoaderCounts loader_counts(const Loader *loader);

RIDGEPOINT_API_END

#endif
