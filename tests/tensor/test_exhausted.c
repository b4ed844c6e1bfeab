// test_exhausted.c -- the message when a device has no more memory: word for word, because all its
// figures are known. test_cache.c tests that cached blocks are freed first.
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tensor/context.h"
#include "tensor/memory.h"
#include "tensor/ops.h"
#include "tests/helpers/expect.h"

static int64_t room;
static bool memory_fails;

static void *allocate(Device *self, size_t bytes) {
    (void)self;
    if ((int64_t)bytes > room) return NULL;
    room -= (int64_t)bytes;
    return memory_new_data(bytes);
}

static void release(Device *self, void *data, size_t bytes) {
    (void)self;
    room += (int64_t)bytes;
    memory_free_data(data);
}

static Status tell_memory(Device *self, DeviceMemory *memory) {
    (void)self;
    *memory = (DeviceMemory){.total = 99999, .free = room};
    return memory_fails ? error_set(STATUS_DEVICE, "no answer") : STATUS_OK;
}

static Device small_device(void) {
    Device device = *device_cpu();
    device.name = "small";
    device.allocate = allocate;
    device.release = release;
    device.uncached = true; // so that reserved equals requested
    room = 10000;
    return device;
}

static Storage *take(Device *device, int64_t bytes, MemoryCategory category, const char *layer) {
    static const char owners[64];
    int outside = layer ? site_enter((uintptr_t)&owners[strlen(layer)], layer, "Layer") : -1;
    Storage *storage = storage_new(device, bytes, category);
    if (layer) site_leave(outside);
    return storage;
}

static void check_told(Device *device, int64_t bytes, const char *text) {
    ck_assert_ptr_null(storage_new(device, bytes, MEM_DATA));
    ck_assert_int_eq(error_status(), STATUS_OUT_OF_MEMORY);
    ck_assert_str_eq(error_message(), text);
    error_clear();
}

#define HINT ". HINT: a smaller batch or model"

START_TEST(figures_and_the_largest_by_layer_are_told) {
    Device small = small_device();
    Storage *held[6];
    check_told(&small, 10001,
               "tensor: small memory exhausted: 10001 bytes asked, 0 live, 0 cached and given "
               "back" HINT);
    held[0] = take(&small, 100, MEM_DATA, NULL);
    check_told(&small, 10001,
               "tensor: small memory exhausted: 10001 bytes asked, 100 live, 0 cached and given "
               "back; largest: 100 data in (model)" HINT);
    held[1] = take(&small, 3000, MEM_ACTIVATION, "relu");
    held[2] = take(&small, 200, MEM_GRADIENT, "fc");
    held[3] = take(&small, 3000, MEM_PARAMETER, "fc");
    held[4] = take(&small, 0, MEM_DATA, NULL);
    held[5] = take(device_cpu(), 1 << 20, MEM_DATA, NULL); // on another device
    context_current()->running = "matmul";
    const char *all = "matmul: small memory exhausted: 9000 bytes asked, 6300 live, 0 cached and "
                      "given back; largest: 3000 parameter in fc, 3000 activation in relu, 200 "
                      "gradient in fc" HINT;
    check_told(&small, 9000, all);
    small.memory = tell_memory;
    memory_fails = true;
    check_told(&small, 9000, all);
    memory_fails = false;
    storage_release(held[3]);
    check_told(&small, 9000,
               "matmul: small memory exhausted: 9000 bytes asked, 3300 live, 0 cached and given "
               "back, 6700 of 99999 free; largest: 3000 activation in relu, 200 gradient in fc, "
               "100 data in (model)" HINT);
    context_current()->running = NULL;
    for (int i = 0; i < 6; i++)
        if (i != 3) storage_release(held[i]);
    ck_assert_ptr_null(context_ledger()->first_live);
}
END_TEST

START_TEST(what_was_cached_is_told) {
    Device small = small_device();
    small.uncached = false;
    if (context_ledger()->raw) test_skip("needs the cache");
    storage_release(take(&small, 1024, MEM_DATA, NULL));
    check_told(&small, 10001,
               "tensor: small memory exhausted: 10001 bytes asked, 0 live, 1024 cached and given "
               "back" HINT);
    ck_assert_int_eq(room, 10000);
}
END_TEST

static Status tell_much(Device *self, DeviceMemory *memory) {
    (void)self;
    *memory = (DeviceMemory){.total = INT64_MAX, .free = INT64_MAX};
    return STATUS_OK;
}

START_TEST(the_hint_is_there_whatever_the_figures) {
    Device small = small_device();
    char name[200];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    small.memory = tell_much;
    int outside = site_enter((uintptr_t)name, name, "Layer");
    Storage *held[3];
    for (int i = 0; i < 3; i++) {
        held[i] = storage_new(&small, 100, MEM_ACTIVATION);
        held[i]->bytes = INT64_MAX / 4; // pretends to be huge
    }
    context_current()->running = "binary_cross_entropy_with_logits_backward";
    ck_assert_ptr_null(storage_new(&small, INT64_MAX / 2, MEM_DATA));
    size_t length = strlen(error_message());
    ck_assert_msg(length < 639 && strcmp(error_message() + length - strlen(HINT), HINT) == 0,
                  "%zu: %s", length, error_message());
    error_clear();
    for (int i = 0; i < 3; i++) held[i]->bytes = 100;
    for (int i = 0; i < 3; i++) storage_release(held[i]);
    context_current()->running = NULL;
    site_leave(outside);
}
END_TEST

// Allocated and freed in any order, the list of live storages stays intact.
START_TEST(live_storages_are_listed_whatever_the_order) {
    enum { N = 40 };
    Storage *held[N] = {NULL};
    uint32_t random = 1;
    for (int step = 0; step < 4000; step++) {
        random = random * 1664525u + 1013904223u;
        Storage **one = &held[(random >> 8) % N];
        if (*one) {
            storage_release(*one);
            *one = NULL;
        } else {
            *one = storage_new(device_cpu(), (int64_t)(random >> 20), MEM_DATA);
        }
        int64_t count = 0, bytes = 0;
        const Storage *before = NULL;
        for (const Storage *s = context_ledger()->first_live; s; before = s, s = s->next) {
            ck_assert_ptr_eq(s->previous, before);
            count++;
            bytes += s->bytes;
        }
        ck_assert_int_eq(count, context_ledger()->live_storages);
        ck_assert_int_eq(bytes, context_ledger()->live.total);
    }
    for (int i = 0; i < N; i++) storage_release(held[i]);
}
END_TEST

// Bytes of address space that this process uses.
static rlim_t addresses(void) {
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    ck_assert(file && fscanf(file, "%ld", &pages) == 1);
    fclose(file);
    return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

// OpenBLAS would ask for a second thread's memory again and again until it gets it.
START_TEST(a_product_waits_for_no_memory_that_there_is_not) {
    struct rlimit before, little;
    ck_assert_int_eq(getrlimit(RLIMIT_AS, &before), 0);
    if (context_ledger()->raw) test_skip("sanitizers take addresses without limit");
    Tensor *a = tensor_full_new(SHAPE(512, 512), 2.0f);
    ck_assert_ptr_nonnull(a);
    context_set_threads(2);
    little = (struct rlimit){.rlim_cur = addresses() + (64 << 20), .rlim_max = before.rlim_max};
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &little), 0);
    Scope *scope = scope_open();
    Tensor *product = tensor_matmul(a, a);
    ck_assert_msg(product != NULL, "%s", error_message());
    ck_assert(tensor_data(product)[512 * 512 - 1] == 2048.0f);
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &before), 0);
    scope_close(scope);
    tensor_free(a);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {figures_and_the_largest_by_layer_are_told, 0},
        {what_was_cached_is_told, 0},
        {the_hint_is_there_whatever_the_figures, 0},
        {live_storages_are_listed_whatever_the_order, 0},
        {a_product_waits_for_no_memory_that_there_is_not, 0},
        {NULL, 0},
    };
    return harness_main("exhausted", tests);
}
