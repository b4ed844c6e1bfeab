// loader.c -- batches of a dataset as tensors: shuffles, converts pixels, copies labels.
// No thread of its own; the images themselves are dataset.c's.
#include "layers/train/dataset.h"
#include "tensor/context.h"
#include "tensor/memory.h"
#include "tensor/ops.h"

enum { PIXEL_VALUES = 256 };

struct Loader {
    const Dataset *dataset; // borrowed
    LoaderOptions options;
    RandomState random;
    int64_t *order;                // the images, as this epoch delivers them
    int64_t next;                  // position in it
    Batch full, last;              // `last` looks at the front of `full`; NULL when not needed
    Storage *pixels, *classes;     // staging, for a device whose memory the host cannot write
    float converted[PIXEL_VALUES]; // what each pixel value becomes
};

static int64_t last_count(const Loader *loader) {
    return loader->options.drop_last ? 0 : loader->dataset->count % loader->options.batch;
}

int64_t loader_batches(const Loader *loader) {
    return loader->dataset->count / loader->options.batch + (last_count(loader) > 0);
}

static Status check_options(const Dataset *dataset, LoaderOptions options) {
    if (options.batch < 1) {
        return error_set(STATUS_INVALID_ARGUMENT,
                         "loader: a batch of %lld images. HINT: at least 1",
                         (long long)options.batch);
    }
    if (dataset->count < (options.drop_last ? options.batch : 1)) {
        return error_set(STATUS_INVALID_ARGUMENT,
                         "loader: %lld images give no batch of %lld. HINT: a smaller batch, or "
                         "more images",
                         (long long)dataset->count, (long long)options.batch);
    }
    return STATUS_OK;
}

// The short batch is a view: one resident batch is all that the loader holds.
static Status make_last(Loader *loader, int64_t count) {
    Scope *scope = scope_open();
    Batch last = {.count = count};
    last.images = tensor_keep(tensor_slice(loader->full.images, 0, 0, count, 1));
    last.labels = tensor_keep(tensor_slice(loader->full.labels, 0, 0, count, 1));
    loader->last = last;
    scope_close(scope);
    return error_status();
}

static Status make_batches(Loader *loader) {
    const Dataset *dataset = loader->dataset;
    int64_t pixels = dataset->rows * dataset->columns;
    int64_t batch = loader->options.batch;
    Batch *full = &loader->full;
    full->count = batch < dataset->count ? batch : dataset->count;
    full->images = tensor_new_as(SHAPE(full->count, pixels), DTYPE_FLOAT32, MEM_DATA);
    full->labels = tensor_new_as(SHAPE(full->count), DTYPE_INT64, MEM_DATA);
    if (!full->images || !full->labels) return error_status();
    Device *device = full->images->device;
    if (device->has_data && !device->on_host) {
        Device *host = device_cpu();
        loader->pixels = storage_new(host, tensor_bytes(full->images), MEM_STAGING);
        loader->classes = storage_new(host, tensor_bytes(full->labels), MEM_STAGING);
        if (!loader->pixels || !loader->classes) return error_status();
    }
    int64_t rest = dataset->count > batch ? last_count(loader) : 0;
    return rest > 0 ? make_last(loader, rest) : STATUS_OK;
}

static Status prepare(Loader *loader) {
    const Dataset *dataset = loader->dataset;
    loader->order = memory_new((size_t)dataset->count * sizeof(int64_t));
    if (!loader->order) return STATUS_OUT_OF_MEMORY;
    for (int64_t i = 0; i < dataset->count; i++) loader->order[i] = i;
    for (int p = 0; p < PIXEL_VALUES; p++) {
        float value = (float)p / (PIXEL_VALUES - 1);
        loader->converted[p] = (value - loader->options.mean) * loader->options.scale;
    }
    return make_batches(loader);
}

Loader *loader_new(const Dataset *dataset, LoaderOptions options) {
    if (check_options(dataset, options)) return NULL;
    Loader *loader = memory_new(sizeof(*loader));
    if (!loader) return NULL;
    loader->dataset = dataset;
    loader->options = options;
    loader->random.seed = options.seed;
    if (prepare(loader)) {
        loader_free(loader);
        return NULL;
    }
    loader_start_epoch(loader);
    return loader;
}

void loader_free(Loader *loader) {
    if (!loader) return;
    tensor_free(loader->last.images);
    tensor_free(loader->last.labels);
    tensor_free(loader->full.images);
    tensor_free(loader->full.labels);
    if (loader->pixels) storage_release(loader->pixels);
    if (loader->classes) storage_release(loader->classes);
    memory_free(loader->order);
    memory_free(loader);
}

void loader_start_epoch(Loader *loader) {
    loader->next = 0;
    if (loader->options.shuffle) {
        random_shuffle(&loader->random, loader->order, loader->dataset->count);
    }
}

// images (count, pixels), labels (count), from the images that `order` names
static void fill(const Loader *loader, const int64_t *order, int64_t count, float *images,
                 int64_t *labels) {
    const Dataset *dataset = loader->dataset;
    int64_t pixels = dataset->rows * dataset->columns;
    for (int64_t i = 0; i < count; i++) {
        const uint8_t *from = dataset->images + order[i] * pixels;
        float *to = images + i * pixels;
        for (int64_t p = 0; p < pixels; p++) to[p] = loader->converted[from[p]];
        labels[i] = dataset->labels[order[i]];
    }
}

static Status deliver(Loader *loader, Batch *batch, const int64_t *order) {
    Device *device = batch->images->device;
    if (!device->has_data) return STATUS_OK; // meta: the shapes are all there is
    if (device->on_host) {
        float *images = tensor_data(batch->images);
        int64_t *labels = tensor_labels(batch->labels);
        if (!images || !labels) return error_status();
        fill(loader, order, batch->count, images, labels);
        return STATUS_OK;
    }
    fill(loader, order, batch->count, loader->pixels->data, loader->classes->data);
    Status status = device->from_host(device, batch->images->storage->data, loader->pixels->data,
                                      (size_t)tensor_bytes(batch->images));
    if (status) return status;
    return device->from_host(device, batch->labels->storage->data, loader->classes->data,
                             (size_t)tensor_bytes(batch->labels));
}

bool loader_next(Loader *loader, Batch *batch) {
    int64_t left = loader->dataset->count - loader->next;
    Batch *now = left < loader->full.count ? &loader->last : &loader->full;
    if (left == 0 || !now->images) return false; // the end, or a rest to be dropped
    if (deliver(loader, now, loader->order + loader->next)) return false;
    now->images->storage->version++; // a backward that still needs the batch before will say so
    now->labels->storage->version++;
    loader->next += now->count;
    *batch = *now;
    return true;
}
