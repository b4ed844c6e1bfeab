// test_cache.c -- the cache of freed blocks: its contents, rounding and release, raw mode, devices.
#include <string.h>

#include "tensor/memory.h"
#include "tests/tensor/own_ledger.h"

// ---- the cache --------------------------------------------------------------------------------
START_TEST(a_freed_block_is_used_again_without_the_system) {
    Ledger *ledger = enter(false);
    Storage *a = cpu_storage(1000);
    void *data = a->data;
    storage_release(a);
    ck_assert_int_eq(ledger->cached_bytes, ledger->reserved_bytes);
    uint64_t calls = memory_system_calls();
    Storage *b = cpu_storage(990); // the same size class
    ck_assert_ptr_eq(b->data, data);
    ck_assert_int_eq(b->bytes, 990);
    ck_assert_uint_eq(b->version, 0);
    ck_assert_uint_eq(memory_system_calls(), calls);
    ck_assert_int_eq(ledger->cached_bytes, 0);
    storage_release(b);
    leave();
}
END_TEST

START_TEST(rounding_is_at_most_an_eighth_and_blocks_are_aligned) {
    Ledger *ledger = enter(false);
    RandomState random = {.seed = 5};
    for (int i = 0; i < 4000; i++) {
        int64_t bytes =
            1 + (int64_t)(random_next(&random) >> random_next_below(&random, 31)) % 8000000;
        if (i < 1100) bytes = i + 1; // every small size
        Storage *a = cpu_storage(bytes);
        ck_assert_uint_eq((uintptr_t)a->data % 64, 0);
        ck_assert_int_ge(a->reserved, bytes);
        ck_assert_int_eq(a->reserved % 64, 0);
        ck_assert_int_le(a->reserved - bytes, bytes / 8 + 63);
        ck_assert_int_eq(ledger->rounding_bytes, a->reserved - bytes);
        memset(a->data, 1, (size_t)a->reserved);
        storage_release(a);
        if (i % 64 == 0) ledger_trim(ledger);
    }
    leave();
}
END_TEST

START_TEST(a_cached_block_always_holds_what_its_next_user_asks) {
    Ledger *ledger = enter(false);
    for (int64_t bytes = 1; bytes < 200000; bytes += 1 + bytes / 90) {
        Storage *a = cpu_storage(bytes);
        storage_release(a);
        Storage *b = cpu_storage(bytes + 37); // perhaps of the same class, perhaps of the next
        ck_assert_int_ge(b->reserved, bytes + 37);
        storage_release(b);
    }
    ck_assert_int_eq(ledger_unaccounted(ledger), 0);
    leave();
}
END_TEST

START_TEST(trimming_gives_every_cached_block_back) {
    Ledger *ledger = enter(false);
    Storage *kept = cpu_storage(5000);
    for (int i = 1; i <= 20; i++) storage_release(cpu_storage(1000 * i));
    ck_assert_int_gt(ledger->cached_bytes, 0);
    ledger_trim(ledger);
    ck_assert_int_eq(ledger->cached_bytes, 0);
    ck_assert_int_eq(ledger->reserved_bytes, kept->reserved);
    ck_assert_int_eq(ledger_unaccounted(ledger), 0);
    memset(kept->data, 7, 5000);
    storage_release(kept);
    leave();
}
END_TEST

START_TEST(raw_mode_keeps_nothing_and_rounds_nothing) {
    Ledger *ledger = enter(true);
    ck_assert(ledger->raw);
    uint64_t calls = memory_system_calls();
    Storage *a = cpu_storage(1001);
    ck_assert_int_eq(a->reserved, 1001);
    ck_assert_int_eq(ledger->reserved_bytes, 1001);
    ck_assert_int_eq(ledger->rounding_bytes, 0);
    storage_release(a);
    ck_assert_int_eq(ledger->reserved_bytes, 0);
    ck_assert_int_eq(ledger->cached_bytes, 0);
    storage_release(cpu_storage(1001));
    ck_assert_uint_ge(memory_system_calls() - calls, 4); // header and data, twice
    leave();
}
END_TEST

START_TEST(a_storage_on_meta_is_live_but_reserves_nothing) {
    Ledger *ledger = enter(_i);
    Storage *a = storage_new(device_meta(), (int64_t)1 << 50, MEM_ACTIVATION);
    ck_assert_ptr_null(a->data);
    ck_assert_int_eq(ledger->live.total, (int64_t)1 << 50);
    ck_assert_int_eq(ledger->live_host_bytes, 0);
    ck_assert_int_eq(ledger->reserved_bytes, 0);
    ck_assert_int_eq(ledger_unaccounted(ledger), 0);
    storage_release(a);
    Storage *b = cpu_storage(1 << 10); // a header used on meta can carry data again
    ck_assert_ptr_nonnull(b->data);
    storage_release(b);
    leave();
}
END_TEST

START_TEST(random_allocations_leave_nothing_unaccounted) {
    enum { SLOTS = 100 };
    Ledger *ledger = enter(_i % 2);
    RandomState random = {.seed = 300 + (uint64_t)_i};
    Storage *slots[SLOTS] = {NULL};
    int64_t total = 0;
    for (int step = 0; step < 5000; step++) {
        Storage **slot = &slots[random_next_below(&random, SLOTS)];
        if (*slot) {
            total -= (*slot)->bytes;
            storage_release(*slot);
            *slot = NULL;
        } else {
            int64_t bytes =
                random_next_below(&random, (int64_t)1 << random_next_below(&random, 18));
            Device *device = random_next_below(&random, 4) ? device_cpu() : device_meta();
            *slot =
                storage_new(device, bytes, (MemoryCategory)random_next_below(&random, MEM_COUNT));
            total += bytes;
        }
        if (random_next_below(&random, 500) == 0) ledger_trim(ledger);
        ck_assert_int_eq(ledger->live.total, total);
        ck_assert_int_eq(ledger_unaccounted(ledger), 0);
        int64_t sum = 0;
        for (int c = 0; c < MEM_COUNT; c++) sum += ledger->live.category[c];
        ck_assert_int_eq(sum, total);
        ck_assert_int_ge(ledger->peak.total, total);
    }
    for (int i = 0; i < SLOTS; i++) storage_release(slots[i]);
    ck_assert_int_eq(ledger->live.total, 0);
    ck_assert_int_eq(ledger->live_storages, 0);
    leave();
}
END_TEST

// ---- a device that runs out, and two devices in one cache --------------------------------------
static int64_t room;

static void *limited(Device *self, size_t bytes) {
    (void)self;
    if ((int64_t)bytes > room) return NULL;
    room -= (int64_t)bytes;
    return memory_new_data(bytes);
}

static void give_back_room(Device *self, void *data, size_t bytes) {
    (void)self;
    room += (int64_t)bytes;
    memory_free_data(data);
}

static Device limited_device(void) {
    Device device = *device_cpu();
    device.name = "small";
    device.allocate = limited;
    device.release = give_back_room;
    return device;
}

START_TEST(when_the_system_has_no_more_the_cache_is_given_back_first) {
    Ledger *ledger = enter(false);
    Device small = limited_device();
    room = 64 * 1024;
    storage_release(storage_new(&small, 40 * 1024, MEM_DATA)); // now in the cache
    Storage *a = storage_new(&small, 50 * 1024, MEM_DATA);
    ck_assert_msg(a != NULL, "%s", error_message());
    ck_assert_int_eq(ledger->cached_bytes, 0);
    ck_assert_ptr_null(storage_new(&small, 50 * 1024, MEM_DATA));
    expect_error(STATUS_OUT_OF_MEMORY, "small memory exhausted: 51200 bytes asked, 51200 live");
    ck_assert_int_eq(ledger_unaccounted(ledger), 0);
    storage_release(a);
    ledger_trim(ledger);
    ck_assert_int_eq(room, 64 * 1024);
    leave();
}
END_TEST

START_TEST(a_block_is_never_given_to_another_device) {
    Ledger *ledger = enter(false);
    Device small = limited_device();
    room = 64 * 1024;
    for (int i = 0; i < 10; i++) {
        Storage *a = cpu_storage(1000), *b = storage_new(&small, 1000, MEM_DATA);
        ck_assert_ptr_eq(a->device, device_cpu());
        ck_assert_ptr_eq(b->device, &small);
        storage_release(a);
        storage_release(b);
        ck_assert_int_eq(ledger_unaccounted(ledger), 0);
    }
    ledger_trim(ledger);
    ck_assert_int_eq(room, 64 * 1024);
    leave();
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {a_freed_block_is_used_again_without_the_system, 0},
        {rounding_is_at_most_an_eighth_and_blocks_are_aligned, 0},
        {a_cached_block_always_holds_what_its_next_user_asks, 0},
        {trimming_gives_every_cached_block_back, 0},
        {raw_mode_keeps_nothing_and_rounds_nothing, 0},
        {a_storage_on_meta_is_live_but_reserves_nothing, 2},
        {random_allocations_leave_nothing_unaccounted, 8},
        {when_the_system_has_no_more_the_cache_is_given_back_first, 0},
        {a_block_is_never_given_to_another_device, 0},
        {NULL, 0},
    };
    return harness_main("cache", tests);
}
