// dataset.c -- owns labelled images in host memory, splits them, and serves as a loader's source.
// loader.c makes batches.
#include "layers/train/source.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "layers/train/fingerprint.h"
#include "tensor/given.h"
#include "tensor/math.h"
#include "tensor/memory.h"

void dataset_free(Dataset *dataset) {
    if (!dataset) return;
    source_bytes_go(dataset->images);
    memory_free(dataset->images);
    memory_free(dataset->labels);
    *dataset = (Dataset){0};
}

// A new dataset of the `count` images with the indices in `order`.
static Status gather(const Dataset *from, const int64_t *order, int64_t count, Dataset *out) {
    size_t pixels = (size_t)(from->rows * from->columns);
    Dataset chosen = *from;
    chosen.count = count;
    chosen.images = memory_new((size_t)count * pixels);
    chosen.labels = memory_new((size_t)count);
    if (!chosen.images || !chosen.labels) {
        dataset_free(&chosen);
        return STATUS_OUT_OF_MEMORY;
    }
    for (int64_t i = 0; i < count; i++) {
        memcpy(chosen.images + (size_t)i * pixels, from->images + (size_t)order[i] * pixels,
               pixels);
        chosen.labels[i] = from->labels[order[i]];
    }
    *out = chosen;
    return STATUS_OK;
}

Status dataset_split(Dataset *dataset, int64_t held_out, uint64_t seed, Dataset *rest) {
    if (!GIVEN(rest)) return STATUS_INVALID_ARGUMENT;
    *rest = (Dataset){0};
    if (!dataset) return error_set(STATUS_INVALID_ARGUMENT, "dataset: there is none (NULL)");
    if (held_out < 0 || held_out > dataset->count) {
        return error_set(STATUS_INVALID_ARGUMENT,
                         "dataset: cannot hold out %lld of %lld images. HINT: between 0 and all "
                         "of them",
                         (long long)held_out, (long long)dataset->count);
    }
    int64_t *order = memory_new((size_t)dataset->count * sizeof(int64_t));
    if (!order) return STATUS_OUT_OF_MEMORY;
    for (int64_t i = 0; i < dataset->count; i++) order[i] = i;
    RandomState random = {.seed = seed};
    if (seed != 0) random_shuffle(&random, order, dataset->count);

    int64_t kept = dataset->count - held_out;
    Dataset first = {0};
    Status status = gather(dataset, order, kept, &first);
    if (status == STATUS_OK) status = gather(dataset, order + kept, held_out, rest);
    memory_free(order);
    if (status) { // nothing has changed
        dataset_free(&first);
        return status;
    }
    dataset_free(dataset);
    *dataset = first;
    return STATUS_OK;
}

// ---- the source for a loader -------------------------------------------------------------------
KERNEL static void convert(const uint8_t *from, int64_t n, float mean, float scale, float *to) {
    for (int64_t i = 0; i < n; i++) to[i] = ((float)from[i] / 255.0f - mean) * scale;
}

static void fill_image(const LoaderSource *source, const LoaderOptions *options, int64_t item,
                       void *x, int64_t *labels) {
    const Dataset *dataset = source->data;
    int64_t pixels = dataset->rows * dataset->columns;
    convert(dataset->images + item * pixels, pixels, options->mean, options->scale, x);
    *labels = dataset->labels[item];
}

static uint64_t fingerprint(const LoaderSource *source, const LoaderOptions *options) {
    const Dataset *dataset = source->data;
    int64_t sizes[] = {dataset->count, dataset->rows, dataset->columns};
    float numbers[] = {options->mean, options->scale};
    size_t pixels = (size_t)(dataset->count * dataset->rows * dataset->columns);
    uint64_t hash = fingerprint_add(0, sizes, sizeof(sizes));
    hash = fingerprint_add(hash, numbers, sizeof(numbers));
    if (!dataset->images || !dataset->labels) return hash; // sizes only, on the meta device
    hash = fingerprint_add(hash, dataset->images, pixels);
    return fingerprint_add(hash, dataset->labels, (size_t)dataset->count);
}

Loader *loader_new(const Dataset *dataset, LoaderOptions options) {
    if (!dataset) error_set(STATUS_INVALID_ARGUMENT, "loader: no dataset");
    if (!dataset) return NULL;
    int64_t rows = dataset->rows, columns = dataset->columns;
    if (options.scale == 0.0f) options.scale = 1.0f; // scale 0 would make all pixels equal
    LoaderSource images = {.data = dataset,
                           .size = sizeof(*dataset),
                           .name = offsetof(Dataset, name),
                           .bytes = dataset->images,
                           .samples = dataset->count,
                           .sample =
                               options.planes ? SHAPE(1, rows, columns) : SHAPE(rows * columns),
                           .label = SHAPE_SCALAR,
                           .dtype = DTYPE_FLOAT32,
                           .fill = fill_image,
                           .fingerprint = fingerprint};
    return loader_new_from(images, options);
}
