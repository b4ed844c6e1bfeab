// loader.c -- batches of samples as tensors, in an order that is shuffled for each epoch. The
// source (source.h) defines the samples; ring.c has the thread that fills ahead of time.
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "layers/train/ring.h"
#include "layers/train/source.h"
#include "tensor/clock.h"
#include "tensor/context.h"
#include "tensor/given.h"
#include "tensor/memory.h"
#include "tensor/ops.h"
#include "tensor/shadow.h"

struct Loader {
    LoaderSource source; // its `data` is the loader's own copy
    Borrower borrower;   // of the data that the source reads
    bool gone;           // its owner has freed the data
    LoaderOptions options;
    RandomState random;
    int64_t *order;            // the items in this epoch's order
    int64_t epoch;             // number of epochs started
    int64_t next;              // index of the batch that loader_next delivers
    int64_t first;             // index of the batch with which the ring began
    uint64_t fingerprint;      // of the data; 0: not computed yet
    Batch full, last;          // `last`: a view of `full`; NULL when not needed
    Ring *ring;                // of Rows; NULL without a thread
    Storage *inputs, *classes; // without a ring: staging for other devices

    int64_t delivered, wait_nanoseconds, depths; // depths: sum over loader_next calls
    int max_depth;
    atomic_llong fill_nanoseconds; // the thread adds to it
};

// A batch in host memory.
typedef struct Rows {
    int64_t *labels;
    void *x;
} Rows;

static int64_t last_count(const Loader *loader) {
    return loader->options.drop_last ? 0 : loader->source.samples % loader->options.batch;
}

int64_t loader_batches(const Loader *loader) {
    if (!loader) error_set(STATUS_INVALID_ARGUMENT, "loader: there is none (NULL)");
    if (!loader) return 0;
    return loader->source.samples / loader->options.batch + (last_count(loader) > 0);
}

static Status check_options(const LoaderSource *source, LoaderOptions options) {
    if (options.batch < 1) {
        return error_set(STATUS_INVALID_ARGUMENT,
                         "loader: a batch of %lld samples. HINT: at least 1",
                         (long long)options.batch);
    }
    if (options.prefetch < 0 || options.prefetch > LOADER_MAX_PREFETCH) {
        return error_set(STATUS_INVALID_ARGUMENT,
                         "loader: prefetch of %d batches. HINT: 0 (no thread) to %d",
                         options.prefetch, LOADER_MAX_PREFETCH);
    }
    if (source->samples < (options.drop_last ? options.batch : 1)) {
        return error_set(STATUS_INVALID_ARGUMENT,
                         "loader: %lld samples give no batch of %lld. HINT: a smaller batch, or "
                         "more samples",
                         (long long)source->samples, (long long)options.batch);
    }
    return STATUS_OK;
}

// ---- filling: by the ring's thread, or by the caller ------------------------------------------

static int64_t batch_count(const Loader *loader, int64_t index) {
    int64_t left = loader->source.samples - index * loader->full.count;
    return left < loader->full.count ? left : loader->full.count;
}

// Fills batch `index` of this epoch's order. Reads only data that a running thread finds constant.
static void fill(Loader *loader, int64_t index, Rows to) {
    int64_t start = clock_nanoseconds();
    const LoaderSource *source = &loader->source;
    const int64_t *order = loader->order + index * loader->full.count;
    int64_t labels = shape_numel(source->label), count = batch_count(loader, index);
    int64_t bytes = shape_numel(source->sample) * dtype_size(source->dtype);
    bool numbered = source->numbered && loader->options.shuffle;
    int64_t before = numbered ? (loader->epoch - 1) * source->samples : 0;
    for (int64_t i = 0; i < count; i++)
        source->fill(source, &loader->options, before + order[i], (char *)to.x + i * bytes,
                     to.labels + i * labels);
    atomic_fetch_add_explicit(&loader->fill_nanoseconds, clock_nanoseconds() - start,
                              memory_order_relaxed);
}

// Labels come first, because eight-byte values need the slot's alignment.
static Rows slot_rows(const Loader *loader, void *slot) {
    int64_t *labels = slot;
    return (Rows){labels, labels + loader->full.labels->numel};
}

static void fill_slot(void *argument, int64_t index, void *slot) {
    Loader *loader = argument;
    fill(loader, loader->first + index, slot_rows(loader, slot));
}

// ---- making ----------------------------------------------------------------------------------

// The short batch is a view, so that the loader holds only one batch.
static Status make_last(Loader *loader, int64_t count) {
    Scope *scope = scope_open();
    Batch last = {.count = count};
    last.images = tensor_keep(tensor_slice(loader->full.images, 0, 0, count, 1));
    last.labels = tensor_keep(tensor_slice(loader->full.labels, 0, 0, count, 1));
    loader->last = last;
    scope_close(scope);
    return error_status();
}

static Shape in_batch(int64_t count, Shape sample) {
    Shape shape = {.ndim = sample.ndim + 1, .dims = {count}};
    for (int d = 0; d < sample.ndim; d++) shape.dims[d + 1] = sample.dims[d];
    return shape;
}

static Status make_batches(Loader *loader) {
    const LoaderSource *source = &loader->source;
    int64_t batch = loader->options.batch;
    Batch *full = &loader->full;
    full->count = batch < source->samples ? batch : source->samples;
    full->images = tensor_new_as(in_batch(full->count, source->sample), source->dtype, MEM_DATA);
    full->labels = tensor_new_as(in_batch(full->count, source->label), DTYPE_INT64, MEM_DATA);
    if (!full->images || !full->labels) return error_status();
    int64_t rest = source->samples > batch ? last_count(loader) : 0;
    return rest > 0 ? make_last(loader, rest) : STATUS_OK;
}

// Makes the memory where batches are assembled if not in the tensors themselves: the thread's ring,
// or one staging buffer for a device whose memory the host cannot write.
static Status make_room(Loader *loader) {
    const Batch *full = &loader->full;
    Device *device = full->images->device;
    if (!device->has_data) return STATUS_OK;
    if (loader->options.prefetch > 0) {
        size_t bytes = (size_t)(tensor_bytes(full->images) + tensor_bytes(full->labels));
        loader->ring = ring_new(loader->options.prefetch, bytes, fill_slot, loader);
    }
    if (!loader->ring && !error_pending() && !device->on_host) {
        Device *host = device_cpu();
        loader->inputs = storage_new(host, tensor_bytes(full->images), MEM_STAGING);
        loader->classes = storage_new(host, tensor_bytes(full->labels), MEM_STAGING);
    }
    return error_status();
}

static Status prepare(Loader *loader) {
    int64_t count = loader->source.samples;
    loader->order = memory_new((size_t)count * sizeof(int64_t));
    if (!loader->order) return STATUS_OUT_OF_MEMORY;
    for (int64_t i = 0; i < count; i++) loader->order[i] = i;
    Status status = make_batches(loader);
    return status ? status : make_room(loader);
}

static void lose(Borrower *borrower) {
    Loader *loader = (Loader *)((char *)borrower - offsetof(Loader, borrower));
    ring_free(loader->ring); // its thread reads the data that is freed
    loader->ring = NULL;
    loader->gone = true;
}

static Status copy_data(Loader *loader, LoaderSource source) {
    loader->source.data = memory_new(source.size);
    if (!loader->source.data) return STATUS_OUT_OF_MEMORY;
    memcpy((void *)loader->source.data, source.data, source.size);
    loader->borrower = (Borrower){.bytes = source.bytes, .gone = lose};
    borrower_add(&loader->borrower);
    return STATUS_OK;
}

Loader *loader_new_from(LoaderSource source, LoaderOptions options) {
    if (check_options(&source, options)) return NULL;
    Loader *loader = memory_new(sizeof(*loader));
    if (!loader) return NULL;
    loader->source = source;
    loader->source.data = NULL;
    loader->options = options;
    loader->random.seed = options.seed;
    if (copy_data(loader, source) || prepare(loader)) {
        loader_free(loader);
        return NULL;
    }
    loader_start_epoch(loader);
    return loader;
}

void loader_free(Loader *loader) {
    if (!loader || tensor_is_stranger(loader->full.images)) return; // belongs outside the dry run
    ring_free(loader->ring); // first: its thread reads the order
    borrower_remove(&loader->borrower);
    tensor_free(loader->last.images);
    tensor_free(loader->last.labels);
    tensor_free(loader->full.images);
    tensor_free(loader->full.labels);
    storage_release(loader->inputs);
    storage_release(loader->classes);
    memory_free(loader->order);
    memory_free((void *)loader->source.data);
    memory_free(loader);
}

// ---- dry runs --------------------------------------------------------------------------------

static void twin_free(void *twin) {
    memory_free(((Loader *)twin)->order);
    memory_free(twin);
}

static Batch batch_here(Batch batch) {
    return (Batch){tensor_here(batch.images), tensor_here(batch.labels), batch.count};
}

// The twin has no thread, because on the meta device there is nothing to fill.
static Loader *twin_of(const Loader *loader) {
    size_t bytes = (size_t)loader->source.samples * sizeof(int64_t);
    Loader *twin = memory_new(sizeof(Loader));
    if (!twin) return NULL;
    *twin = (Loader){.source = loader->source, // its thread may be adding to fill_nanoseconds
                     .gone = loader->gone,
                     .options = loader->options,
                     .random = loader->random,
                     .epoch = loader->epoch,
                     .next = loader->next,
                     .fingerprint = loader->fingerprint,
                     .delivered = loader->delivered};
    twin->full = batch_here(loader->full);
    twin->last = batch_here(loader->last);
    twin->order = memory_new(bytes);
    if (error_pending()) {
        twin_free(twin);
        return NULL;
    }
    memcpy(twin->order, loader->order, bytes);
    return shadow_add(loader, twin, twin_free) ? NULL : twin;
}

// In a dry run, the twin of a loader from outside. NULL: an error is pending.
static Loader *here(Loader *loader) {
    if (!loader) error_set(STATUS_INVALID_ARGUMENT, "loader: there is none (NULL)");
    if (!loader) return NULL;
    if (tensor_here(loader->full.images) == loader->full.images) return loader;
    Loader *twin = shadow_find(loader);
    return twin ? twin : twin_of(loader);
}

// ---- epochs ----------------------------------------------------------------------------------

// Makes the thread rest, so that data that it reads may change.
static void rest(Loader *loader) {
    if (loader->ring) ring_stop(loader->ring);
}

static void shuffle(Loader *loader) {
    loader->epoch++;
    if (loader->options.shuffle && !loader->source.numbered)
        random_shuffle(&loader->random, loader->order, loader->source.samples);
}

static void go_on(Loader *loader, int64_t batch) {
    loader->next = loader->first = batch;
    if (loader->ring) ring_start(loader->ring, loader_batches(loader) - batch);
}

void loader_start_epoch(Loader *loader) {
    loader = here(loader);
    if (!loader) return;
    rest(loader);
    shuffle(loader);
    go_on(loader, 0);
}

// ---- positions -------------------------------------------------------------------------------
static Status check_there(const Loader *loader) {
    if (!loader->gone) return STATUS_OK;
    return error_set(STATUS_STATE,
                     "loader: the data that it reads was freed. HINT: free the loader first");
}

// Computed once: it takes a moment per gigabyte, and every checkpoint asks for a position.
static uint64_t fingerprint_of(Loader *loader) {
    if (loader->fingerprint == 0 && !check_there(loader))
        loader->fingerprint = loader->source.fingerprint(&loader->source, &loader->options);
    return loader->fingerprint;
}

LoaderPosition loader_position(const Loader *loader) {
    loader = here((Loader *)loader);
    if (!loader) return (LoaderPosition){0};
    const LoaderOptions *options = &loader->options;
    LoaderPosition position = {.epoch = loader->epoch,
                               .batch = loader->next,
                               .images = loader->source.samples,
                               .batch_size = options->batch,
                               .seed = options->seed,
                               .shuffle = options->shuffle,
                               .drop_last = options->drop_last,
                               .fingerprint = fingerprint_of((Loader *)loader)};
    snprintf(position.data, sizeof(position.data), "%s",
             (const char *)loader->source.data + loader->source.name);
    return position;
}

// Refuses other data of the same size, or other samples of it, which would otherwise go unnoticed.
static Status check_data(LoaderPosition to, LoaderPosition own) {
    if (to.fingerprint == own.fingerprint) return STATUS_OK;
    return error_set(STATUS_INVALID_ARGUMENT,
                     "loader_seek: the place is in other data: it is in '%s' (%lld samples, "
                     "%016llx), this loader has '%s' (%lld samples, %016llx). HINT: the data that "
                     "it was trained on, unchanged, in windows as long, by the same mean and scale",
                     to.data, (long long)to.images, (unsigned long long)to.fingerprint, own.data,
                     (long long)own.images, (unsigned long long)own.fingerprint);
}

static Status check_position(const Loader *loader, LoaderPosition to) {
    LoaderPosition own = loader_position(loader);
    if (check_data(to, own)) return error_status();
    if (to.images != own.images || to.batch_size != own.batch_size || to.seed != own.seed ||
        to.shuffle != own.shuffle || to.drop_last != own.drop_last)
        return error_set(STATUS_INVALID_ARGUMENT,
                         "loader_seek: the place is in batches of %lld of %lld samples by seed "
                         "%llu, this loader's are %lld of %lld by %llu. HINT: the same data, "
                         "batch, seed, shuffle and drop_last",
                         (long long)to.batch_size, (long long)to.images,
                         (unsigned long long)to.seed, (long long)own.batch_size,
                         (long long)own.images, (unsigned long long)own.seed);
    if (to.epoch < 1 || to.epoch > LOADER_MOST_EPOCHS || to.batch < 0 ||
        to.batch > loader_batches(loader))
        return error_set(STATUS_INVALID_ARGUMENT,
                         "loader_seek: there is no batch %lld of epoch %lld. HINT: of %lld batches "
                         "0 to all were delivered, in epoch 1 to %d",
                         (long long)to.batch, (long long)to.epoch,
                         (long long)loader_batches(loader), LOADER_MOST_EPOCHS);
    return STATUS_OK;
}

Status loader_seek(Loader *loader, LoaderPosition position) {
    if (error_pending()) return error_status();
    loader = here(loader);
    if (!loader || check_position(loader, position)) return error_status();
    rest(loader);
    loader->epoch = 0;
    loader->random.offset = 0;
    for (int64_t i = 0; i < position.images; i++) loader->order[i] = i;
    while (loader->epoch < position.epoch) shuffle(loader);
    go_on(loader, position.batch);
    return STATUS_OK;
}

// ---- delivering ------------------------------------------------------------------------------
static Status send(const Batch *batch, Rows rows) {
    Device *device = batch->images->device;
    Status status = device_from_host(device, batch->images->storage->data, rows.x,
                                     (size_t)tensor_bytes(batch->images));
    if (status) return status;
    return device_from_host(device, batch->labels->storage->data, rows.labels,
                            (size_t)tensor_bytes(batch->labels));
}

// A batch that could not be sent stays at the front, so that the caller may try again.
static Status deliver_filled(Loader *loader, const Batch *batch) {
    int depth;
    int64_t asked = clock_nanoseconds();
    void *slot = ring_front(loader->ring, &depth);
    if (depth == 0) loader->wait_nanoseconds += clock_nanoseconds() - asked;
    Status status = send(batch, slot_rows(loader, slot));
    if (status) return status;
    ring_pop(loader->ring);
    loader->depths += depth;
    if (depth > loader->max_depth) loader->max_depth = depth;
    return STATUS_OK;
}

static Status deliver(Loader *loader, Batch *batch) {
    Device *device = batch->images->device;
    if (!device->has_data) return STATUS_OK; // meta: only the shapes are real
    if (loader->ring) return deliver_filled(loader, batch);
    Rows rows = device->on_host ? (Rows){batch->labels->storage->data, batch->images->storage->data}
                                : (Rows){loader->classes->data, loader->inputs->data};
    fill(loader, loader->next, rows);
    return device->on_host ? STATUS_OK : send(batch, rows);
}

bool loader_next(Loader *loader, Batch *batch) {
    if (!GIVEN(batch)) return false;
    loader = here(loader);
    if (!loader || check_there(loader)) return false;
    if (loader->next == loader_batches(loader)) return false;
    bool is_short = batch_count(loader, loader->next) < loader->full.count;
    Batch *now = is_short ? &loader->last : &loader->full;
    if (deliver(loader, now)) return false;
    now->images->storage->version++; // a backward that needs the previous batch refuses
    now->labels->storage->version++;
    loader->next++;
    loader->delivered++;
    *batch = *now;
    return true;
}

LoaderCounts loader_counts(const Loader *loader) {
    loader = here((Loader *)loader);
    if (!loader) return (LoaderCounts){0};
    int64_t filling = atomic_load_explicit(&loader->fill_nanoseconds, memory_order_relaxed);
    LoaderCounts counts = {
        .batches = loader->delivered,
        .prefetch = loader->ring ? loader->options.prefetch : 0,
        .wait_seconds = 1e-9 * (double)loader->wait_nanoseconds,
        .preprocess_seconds = 1e-9 * (double)filling,
        .max_depth = loader->max_depth,
    };
    if (loader->delivered > 0)
        counts.average_depth = (double)loader->depths / (double)loader->delivered;
    return counts;
}
