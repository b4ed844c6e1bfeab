// test_loader.c -- batches: their order, their numbers, the last one, and every device.
// test_prefetch.c tests the thread that prepares them.
#include <stdlib.h>
#include <string.h>

#include "layers/train/dataset.h"
#include "tensor/context.h"
#include "tensor/memory.h"
#include "tensor/ops.h"
#include "tests/helpers/data_files.h"
#include "tests/helpers/harness.h"

enum { COUNT = 103, PIXELS = 2 };

// Image i is the two pixels {i, 255 - i}, and its label i % 10, so that each is recognisable.
static uint8_t images[COUNT * PIXELS], labels[COUNT];
static const Dataset dataset = {
    .count = COUNT, .rows = 1, .columns = 2, .classes = 10, .images = images, .labels = labels};

static void make_images(void) {
    for (int i = 0; i < COUNT; i++) {
        images[2 * i] = (uint8_t)i;
        images[2 * i + 1] = (uint8_t)(255 - i);
        labels[i] = (uint8_t)(i % 10);
    }
}

static LoaderOptions options(int64_t batch) {
    return (LoaderOptions){.batch = batch, .shuffle = true, .seed = 4, .scale = 255.0f};
}

static Loader *make_loader(LoaderOptions with) {
    make_images();
    Loader *loader = loader_new(&dataset, with);
    ck_assert_msg(loader != NULL, "%s", error_message());
    return loader;
}

// Reads one epoch's images in delivery order, checks shapes, pixels and labels; returns the count.
static int64_t read_epoch(Loader *loader, LoaderOptions with, int64_t order[COUNT]) {
    int64_t seen = 0, batches = 0;
    Batch batch;
    loader_start_epoch(loader);
    while (loader_next(loader, &batch)) {
        int64_t expected = COUNT - seen < with.batch ? COUNT - seen : with.batch;
        ck_assert_int_eq(batch.count, expected);
        ck_assert(shape_equal(tensor_shape(batch.images), SHAPE(expected, PIXELS)));
        ck_assert(shape_equal(tensor_shape(batch.labels), SHAPE(expected)));
        const float *pixels = tensor_data(batch.images);
        const int64_t *classes = tensor_labels(batch.labels);
        for (int64_t i = 0; i < batch.count; i++) {
            float value = pixels[2 * i] / with.scale + with.mean; // back to p / 255
            int64_t image = (int64_t)(value * 255.0f + 0.5f);
            float other = ((float)(255 - image) / 255.0f - with.mean) * with.scale;
            harness_assert_close(&pixels[2 * i + 1], &other, 1, 0, 0, "second pixel");
            ck_assert_int_eq(classes[i], image % 10);
            order[seen++] = image;
        }
        batches++;
    }
    ck_assert(!error_pending());
    ck_assert_int_eq(batches, loader_batches(loader));
    ck_assert(!loader_next(loader, &batch)); // the epoch stays over
    return seen;
}

static bool is_permutation(const int64_t order[COUNT]) {
    bool found[COUNT] = {false};
    for (int i = 0; i < COUNT; i++) {
        if (order[i] < 0 || order[i] >= COUNT || found[order[i]]) return false;
        found[order[i]] = true;
    }
    return true;
}

START_TEST(each_epoch_delivers_every_image_once_in_a_new_order) {
    LoaderOptions with = options((int64_t[]){1, 10, 103, 500}[_i]);
    Loader *loader = make_loader(with), *twin = make_loader(with);
    int64_t first[COUNT], second[COUNT], again[COUNT];
    ck_assert_int_eq(read_epoch(loader, with, first), COUNT);
    ck_assert_int_eq(read_epoch(loader, with, second), COUNT);
    ck_assert(is_permutation(first) && is_permutation(second));
    ck_assert_mem_ne(first, second, sizeof first);
    ck_assert(first[COUNT - 1] != COUNT - 1 || second[COUNT - 1] != COUNT - 1);
    ck_assert_int_eq(read_epoch(twin, with, again), COUNT);
    ck_assert_mem_eq(first, again, sizeof first); // the seed decides
    ck_assert_int_eq(read_epoch(twin, with, again), COUNT);
    ck_assert_mem_eq(second, again, sizeof second);
    loader_free(loader);
    loader_free(twin);
}
END_TEST

START_TEST(without_shuffle_the_order_is_that_of_the_dataset) {
    LoaderOptions with = {.batch = 8, .mean = 0.13f, .scale = 3.25f};
    Loader *loader = make_loader(with);
    int64_t order[COUNT];
    for (int epoch = 0; epoch < 2; epoch++) {
        ck_assert_int_eq(read_epoch(loader, with, order), COUNT);
        for (int i = 0; i < COUNT; i++) ck_assert_int_eq(order[i], i);
    }
    loader_free(loader);
}
END_TEST

START_TEST(pixels_are_as_they_are_where_nothing_is_said) {
    LoaderOptions with = {.batch = 8};
    int64_t order[COUNT];
    Loader *loader = make_loader(with);
    with.scale = 1.0f; // read_epoch divides by it
    ck_assert_int_eq(read_epoch(loader, with, order), COUNT);
    loader_free(loader);
}
END_TEST

START_TEST(a_rest_can_be_dropped) {
    LoaderOptions with = options(10);
    with.drop_last = true;
    Loader *loader = make_loader(with);
    int64_t order[COUNT];
    ck_assert_int_eq(read_epoch(loader, with, order), 100);
    ck_assert_int_eq(loader_batches(loader), 10);
    loader_free(loader);
}
END_TEST

START_TEST(one_batch_is_all_that_is_resident) {
    LoaderOptions with = options(10); // the last batch has 3
    with.prefetch = 3 * _i;
    Loader *loader = make_loader(with);
    const Ledger *ledger = context_current()->ledger;
    ck_assert_int_eq(ledger->live.category[MEM_DATA], 10 * PIXELS * 4 + 10 * 8);
    Batch batch;
    int64_t requests = (int64_t)memory_requests();
    for (int epoch = 0; epoch < 3; epoch++) {
        while (loader_next(loader, &batch)) continue;
        loader_start_epoch(loader);
    }
    ck_assert_int_eq((int64_t)memory_requests(), requests);
    ck_assert(loader_next(loader, &batch));
    ck_assert_ptr_null(tensor_detach(batch.images)); // no scope is open
    data_expect_error(error_status(), STATUS_STATE, "scope");
    loader_free(loader);
    ck_assert_int_eq(ledger->live.total, 0);
}
END_TEST

START_TEST(a_new_batch_is_a_write_in_place) {
    Loader *loader = make_loader(options(60));
    Batch first, second;
    ck_assert(loader_next(loader, &first));
    uint32_t version = first.images->storage->version;
    uint32_t label_version = first.labels->storage->version;
    ck_assert(loader_next(loader, &second)); // the short batch, in the same memory
    ck_assert_uint_ne(first.images->storage->version, version);
    ck_assert_uint_ne(first.labels->storage->version, label_version);
    loader_free(loader);
}
END_TEST

START_TEST(the_meta_device_gets_shapes) {
    context_set_device(device_meta());
    LoaderOptions with = options(60);
    with.prefetch = 2; // on meta nothing is prefetched
    Loader *loader = make_loader(with);
    ck_assert_int_eq(loader_counts(loader).prefetch, 0);
    Batch batch;
    ck_assert(loader_next(loader, &batch));
    ck_assert(shape_equal(tensor_shape(batch.images), SHAPE(60, PIXELS)));
    ck_assert_ptr_null(batch.images->storage->data);
    ck_assert(loader_next(loader, &batch));
    ck_assert(shape_equal(tensor_shape(batch.labels), SHAPE(43)));
    ck_assert(!loader_next(loader, &batch));
    ck_assert(!error_pending());
    loader_free(loader);
    context_set_device(device_cpu());
}
END_TEST

static Status copy_in(Device *self, void *to, const void *from, size_t bytes) {
    (void)self;
    memcpy(to, from, bytes);
    return STATUS_OK;
}

static Status refuse(Device *self, void *to, const void *from, size_t bytes) {
    (void)self, (void)to, (void)from;
    return error_set(STATUS_DEVICE, "far: %zu bytes refused. HINT: none", bytes);
}

// A device whose memory the host may not touch gets its batches through from_host, from a staging
// buffer or from the thread's.
START_TEST(a_device_of_its_own_memory_is_written_through_staging) {
    static Device far; // outlives the blocks that the ledger caches
    far = *device_cpu();
    far.name = "far";
    far.on_host = false;
    far.from_host = copy_in;
    context_set_device(&far);
    LoaderOptions with = options(60);
    with.shuffle = false;
    with.prefetch = 2 * _i;
    Loader *loader = make_loader(with);
    Batch batch;
    ck_assert_int_eq(context_current()->ledger->live.category[MEM_STAGING],
                     _i ? 0 : 60 * (PIXELS * 4 + 8));
    for (int64_t first = 0; first < COUNT; first += 60) {
        ck_assert_msg(loader_next(loader, &batch), "%s", error_message());
        const float *pixels = batch.images->storage->data;
        const int64_t *classes = batch.labels->storage->data;
        for (int64_t i = 0; i < batch.count; i++) {
            float image = (float)(first + i);
            harness_assert_close(&pixels[2 * i], &image, 1, 1e-4, 0, "first pixel");
            ck_assert_int_eq(classes[i], (first + i) % 10);
        }
    }
    loader_start_epoch(loader);
    far.from_host = refuse;
    ck_assert(!loader_next(loader, &batch));
    data_expect_error(error_status(), STATUS_DEVICE, "bytes refused");
    far.from_host = copy_in; // the batch was not lost
    ck_assert(loader_next(loader, &batch));
    ck_assert_int_eq(batch.count, 60);
    ck_assert_int_eq(((int64_t *)batch.labels->storage->data)[59], 9);
    loader_free(loader);
    context_set_device(device_cpu());
    ck_assert_int_eq(context_current()->ledger->live.total, 0);
}
END_TEST

START_TEST(what_cannot_be_loaded_is_an_error) {
    Dataset empty = {.rows = 1, .columns = 2, .classes = 10};
    LoaderOptions all = options(200), far_ahead = options(1), behind = options(1);
    all.drop_last = true;
    far_ahead.prefetch = LOADER_MAX_PREFETCH + 1;
    behind.prefetch = -1;
    ck_assert_ptr_null(loader_new(&dataset, far_ahead));
    data_expect_error(error_status(), STATUS_INVALID_ARGUMENT, "prefetch of 65 batches");
    ck_assert_ptr_null(loader_new(&dataset, behind));
    data_expect_error(error_status(), STATUS_INVALID_ARGUMENT, "prefetch of -1 batches");
    ck_assert_ptr_null(loader_new(&dataset, options(0)));
    data_expect_error(error_status(), STATUS_INVALID_ARGUMENT, "a batch of 0 samples");
    ck_assert_ptr_null(loader_new(&empty, options(1)));
    data_expect_error(error_status(), STATUS_INVALID_ARGUMENT, "0 samples give no batch of 1");
    ck_assert_ptr_null(loader_new(&dataset, all));
    data_expect_error(error_status(), STATUS_INVALID_ARGUMENT, "103 samples give no batch of 200");
}
END_TEST

START_TEST(every_failing_allocation_leaves_nothing_behind) {
    LoaderOptions with = options(10);
    with.prefetch = 2 * _i;
    loader_free(make_loader(with));
    const Ledger *ledger = context_current()->ledger; // exists since the first tensor
    int failures = 0;
    for (uint64_t nth = 1;; nth++) {
        uint64_t before = memory_requests();
        memory_fail_at(nth);
        Loader *loader = loader_new(&dataset, with);
        memory_fail_at(0);
        bool reached = memory_requests() - before >= nth;
        ck_assert((loader == NULL) == (error_status() == STATUS_OUT_OF_MEMORY));
        failures += loader == NULL;
        error_clear();
        loader_free(loader);
        ck_assert_int_eq(ledger->live.total, 0);
        ck_assert_int_eq(ledger->live_storages, 0);
        if (!reached) break;
    }
    ck_assert_int_ge(failures, 4 + _i); // loader, order, at least two tensors, ring
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {{each_epoch_delivers_every_image_once_in_a_new_order, 4},
                                 {without_shuffle_the_order_is_that_of_the_dataset, 0},
                                 {pixels_are_as_they_are_where_nothing_is_said, 0},
                                 {a_rest_can_be_dropped, 0},
                                 {one_batch_is_all_that_is_resident, 2},
                                 {a_new_batch_is_a_write_in_place, 0},
                                 {the_meta_device_gets_shapes, 0},
                                 {a_device_of_its_own_memory_is_written_through_staging, 2},
                                 {what_cannot_be_loaded_is_an_error, 0},
                                 {every_failing_allocation_leaves_nothing_behind, 2},
                                 {NULL, 0}};
    return harness_main("loader", tests);
}
