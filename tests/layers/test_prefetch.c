// test_prefetch.c -- the loader's thread: the same batches to the bit, at any pace and through
// early restarts; its end in every state; its counts; and the ring it fills.
#define _GNU_SOURCE 1 // for pthread_setattr_default_np

#include <pthread.h>
#include <time.h>

#include "layers/train/dataset.h"
#include "layers/train/ring.h"
#include "tensor/context.h"
#include "tensor/memory.h"
#include "tests/helpers/harness.h"

enum { COUNT = 103, PIXELS = 5 };

static uint8_t images[COUNT * PIXELS], labels[COUNT];
static const Dataset dataset = {
    .count = COUNT, .rows = 1, .columns = 5, .classes = 10, .images = images, .labels = labels};

static Loader *make_loader(LoaderOptions with) {
    for (int i = 0; i < COUNT * PIXELS; i++) images[i] = (uint8_t)(i * 7);
    for (int i = 0; i < COUNT; i++) labels[i] = (uint8_t)(i % 10);
    Loader *loader = loader_new(&dataset, with);
    ck_assert_msg(loader != NULL, "%s", error_message());
    return loader;
}

static LoaderOptions options(int64_t batch, int prefetch) {
    return (LoaderOptions){
        .batch = batch, .shuffle = true, .seed = 4, .scale = 1.0f, .prefetch = prefetch};
}

static void nap(int microseconds) {
    nanosleep(&(struct timespec){.tv_nsec = microseconds * 1000L}, NULL);
}

static double seconds_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// True when both have a next batch, equal to the bit; false when both are at the end.
static bool next_is_the_same(Loader *plain, Loader *threaded) {
    Batch want, got;
    bool more = loader_next(plain, &want);
    ck_assert(loader_next(threaded, &got) == more);
    if (!more) return false;
    ck_assert_int_eq(got.count, want.count);
    ck_assert_mem_eq(tensor_data(got.images), tensor_data(want.images),
                     (size_t)tensor_bytes(want.images));
    ck_assert_mem_eq(tensor_labels(got.labels), tensor_labels(want.labels),
                     (size_t)tensor_bytes(want.labels));
    return true;
}

// Epochs end early at random, and the caller is now faster and now slower than the thread.
START_TEST(a_thread_changes_no_bit) {
    LoaderOptions with = options((int64_t[]){1, 2, 7, 10, 60, 103, 500}[_i], 0);
    RandomState chance = {.seed = (uint64_t)_i};
    for (int kind = 0; kind < 8; kind++) {
        with.shuffle = kind & 1;
        with.drop_last = (kind & 2) && with.batch <= COUNT;
        with.mean = kind & 4 ? 0.1307f : 0.0f;
        with.scale = kind & 4 ? 1.0f / 0.3081f : 1.0f;
        with.prefetch = 0;
        Loader *plain = make_loader(with);
        with.prefetch = (int[]){1, 2, 3, LOADER_MAX_PREFETCH}[kind / 2];
        Loader *threaded = make_loader(with);
        ck_assert_int_eq(loader_counts(threaded).prefetch, with.prefetch);
        for (int epoch = 0; epoch < 20; epoch++) {
            int64_t stop = epoch % 4 == 0 ? INT64_MAX : random_next_below(&chance, 20);
            for (int64_t i = 0; i < stop && next_is_the_same(plain, threaded); i++)
                if (random_next_below(&chance, 16) == 0) nap(50);
            loader_start_epoch(plain);
            loader_start_epoch(threaded);
        }
        loader_free(plain);
        loader_free(threaded);
    }
}
END_TEST

START_TEST(a_thread_ends_with_its_loader_in_every_state) {
    for (int i = 0; i < 60; i++) {
        Loader *loader = make_loader(options(4, 1 + i % 3));
        Batch batch;
        if (i % 4 == 1) nap(100);
        for (int k = 0; k < i && loader_next(loader, &batch); k++) continue;
        if (i % 5 == 2) loader_start_epoch(loader);
        if (i % 7 == 3) nap(100);
        loader_free(loader);
    }
    ck_assert_int_eq(context_current()->ledger->live.total, 0);
}
END_TEST

START_TEST(counts_without_a_thread) {
    Loader *loader = make_loader(options(10, 0));
    Batch batch;
    while (loader_next(loader, &batch)) continue;
    LoaderCounts counts = loader_counts(loader);
    ck_assert_int_eq(counts.batches, 11);
    ck_assert_int_eq(counts.prefetch, 0);
    ck_assert_int_eq(counts.max_depth, 0);
    ck_assert(counts.wait_seconds == 0.0 && counts.average_depth == 0.0);
    ck_assert(counts.preprocess_seconds > 0.0);
    loader_free(loader);
}
END_TEST

enum { SLOW_BATCHES = 8 };

// The loader's counts for a caller that takes `microseconds` over each batch.
static LoaderCounts counts_of_a_slow_caller(int microseconds) {
    Loader *loader = make_loader(options(10, 3));
    Batch batch;
    for (int i = 0; i < SLOW_BATCHES; i++) {
        nap(microseconds);
        ck_assert(loader_next(loader, &batch));
    }
    LoaderCounts counts = loader_counts(loader);
    loader_free(loader);
    return counts;
}

// The necessary slowness depends on the machine's load, since the thread needs a processor. Time
// that the thread waits for room is not counted as work.
START_TEST(a_slow_caller_finds_the_ring_full) {
    LoaderCounts counts = {0};
    int slow = 20000;
    for (; slow < 1000000 && counts.average_depth <= 2.0; slow *= 3)
        counts = counts_of_a_slow_caller(slow);
    ck_assert_int_eq(counts.batches, SLOW_BATCHES);
    ck_assert_int_eq(counts.max_depth, 3);
    ck_assert(counts.average_depth > 2.0 && counts.average_depth <= 3.0);
    ck_assert(counts.preprocess_seconds > 0.0);
    ck_assert_double_lt(counts.preprocess_seconds, 0.6 * SLOW_BATCHES * 1e-6 * (slow / 3));
}
END_TEST

START_TEST(a_fast_caller_waits) {
    enum { SIDE = 1000, LARGE = 4 };
    Dataset large = {.count = LARGE, .rows = SIDE, .columns = SIDE, .classes = 10};
    large.images = memory_new(LARGE * SIDE * SIDE);
    large.labels = memory_new(LARGE);
    Loader *loader = loader_new(&large, (LoaderOptions){.batch = LARGE, .scale = 1, .prefetch = 1});
    double start = seconds_now();
    Batch batch;
    for (int i = 0; i < 10; i++) {
        loader_start_epoch(loader);
        ck_assert(loader_next(loader, &batch));
    }
    LoaderCounts counts = loader_counts(loader);
    ck_assert(counts.wait_seconds > 0.0 && counts.wait_seconds <= seconds_now() - start);
    ck_assert(counts.average_depth < 1.0);
    loader_free(loader);
    dataset_free(&large);
}
END_TEST

START_TEST(a_waiting_thread_uses_no_processor_time) {
    Loader *loader = make_loader(options(10, 2));
    nap(20000);
    clock_t before = clock();
    nap(300000);
    ck_assert_double_le((double)(clock() - before) / CLOCKS_PER_SEC, 0.05);
    loader_free(loader);
}
END_TEST

START_TEST(without_a_thread_to_start_the_loader_does_without) {
    pthread_attr_t usual, huge;
    context_current(); // makes the BLAS start and end its threads
    ck_assert_int_eq(pthread_getattr_default_np(&usual), 0);
    pthread_attr_init(&huge);
    ck_assert_int_eq(pthread_attr_setstacksize(&huge, (size_t)1 << 52), 0); // impossible
    if (pthread_setattr_default_np(&huge) != 0) test_skip("the default stack size is fixed");
    Loader *alone = make_loader(options(10, 2)), *plain = make_loader(options(10, 0));
    ck_assert_int_eq(pthread_setattr_default_np(&usual), 0);
    ck_assert(!error_pending());
    ck_assert_int_eq(loader_counts(alone).prefetch, 0);
    while (next_is_the_same(plain, alone)) continue;
    ck_assert_int_eq(loader_counts(alone).batches, 11);
    loader_free(alone);
    loader_free(plain);
}
END_TEST

static void write_index(void *argument, int64_t index, void *slot) {
    *(int64_t *)slot = index + *(const int64_t *)argument;
}

START_TEST(a_piece_stays_in_its_slot_until_it_is_popped) {
    int64_t base = 0;
    void *before = memory_new(16 + 32 * (size_t)_i); // so that not every ring is aligned by chance
    Ring *ring = ring_new(1 + _i, sizeof(int64_t), write_index, &base);
    ck_assert_ptr_nonnull(ring);
    for (base = 100; base < 700; base += 100) {
        ring_start(ring, 10);
        for (int64_t piece = 0; piece < base / 100; piece++) {
            int depth;
            const int64_t *slot = ring_front(ring, &depth);
            ck_assert_int_eq(*slot, base + piece);
            nap(500); // time for the thread to overwrite the slot
            ck_assert_int_eq(*slot, base + piece);
            ck_assert_int_le(depth, 1 + _i);
            ck_assert_uint_eq((uintptr_t)slot % 64, 0);
            ring_pop(ring);
        }
        ring_stop(ring);
    }
    ring_free(ring);
    memory_free(before);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {{a_thread_changes_no_bit, 7},
                                 {a_thread_ends_with_its_loader_in_every_state, 0},
                                 {counts_without_a_thread, 0},
                                 {a_slow_caller_finds_the_ring_full, 0},
                                 {a_fast_caller_waits, 0},
                                 {a_waiting_thread_uses_no_processor_time, 0},
                                 {without_a_thread_to_start_the_loader_does_without, 0},
                                 {a_piece_stays_in_its_slot_until_it_is_popped, 3},
                                 {NULL, 0}};
    return harness_main("prefetch", tests);
}
