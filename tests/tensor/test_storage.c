// test_storage.c -- the ledger: live bytes by category, the peak and its parts, lifetimes,
// observers of storage. test_cache.c tests the cache behind it.
#include <string.h>

#include "tensor/ops.h"
#include "tests/tensor/own_ledger.h"

// ---- live and peak ----------------------------------------------------------------------------
START_TEST(live_bytes_are_the_requested_ones_by_category) {
    Ledger *ledger = enter(_i);
    Storage *storages[MEM_COUNT];
    int64_t total = 0;
    for (int c = 0; c < MEM_COUNT; c++) {
        storages[c] = storage_new(device_cpu(), 100 * c + 1, (MemoryCategory)c);
        total += 100 * c + 1;
        ck_assert_int_eq(ledger->live.category[c], 100 * c + 1);
        ck_assert_int_eq(ledger->live.total, total);
    }
    ck_assert_int_eq(ledger->live_storages, MEM_COUNT);
    for (int c = 0; c < MEM_COUNT; c++) {
        storage_release(storages[c]);
        ck_assert_int_eq(ledger->live.category[c], 0);
    }
    ck_assert_int_eq(ledger->live.total, 0);
    ck_assert_int_eq(ledger->live_storages, 0);
    leave();
}
END_TEST

START_TEST(the_peak_is_the_composition_at_its_moment_and_adds_up) {
    Ledger *ledger = enter(_i);
    Storage *a = storage_new(device_cpu(), 1000, MEM_PARAMETER);
    Storage *b = storage_new(device_cpu(), 500, MEM_ACTIVATION);
    storage_release(b);
    Storage *c = storage_new(device_cpu(), 499, MEM_GRADIENT); // one byte below the peak
    ck_assert_int_eq(ledger->peak.total, 1500);
    ck_assert_int_eq(ledger->peak.category[MEM_PARAMETER], 1000);
    ck_assert_int_eq(ledger->peak.category[MEM_ACTIVATION], 500);
    ck_assert_int_eq(ledger->peak.category[MEM_GRADIENT], 0);
    Storage *d = storage_new(device_cpu(), 2, MEM_WORKSPACE); // one byte above
    ck_assert_int_eq(ledger->peak.total, 1501);
    ck_assert_int_eq(ledger->peak.category[MEM_ACTIVATION], 0);
    ck_assert_int_eq(ledger->peak.category[MEM_GRADIENT], 499);
    ck_assert_int_eq(ledger->peak.category[MEM_WORKSPACE], 2);
    storage_release(a);
    ledger_reset_peak(ledger);
    ck_assert_int_eq(ledger->peak.total, 501); // equals the live bytes now
    storage_release(c);
    storage_release(d);
    leave();
}
END_TEST

START_TEST(the_peak_names_the_op_the_site_and_the_phase) {
    Ledger *ledger = enter(false);
    Scope *scope = scope_open();
    Tensor *x = tensor_zeros_new(SHAPE(256));
    ck_assert_ptr_null(ledger->peak_op); // outside any op
    ledger_reset_peak(ledger);
    int outer = site_enter((uintptr_t)&own, "fc1", "Linear");
    own->phase = PHASE_BACKWARD;
    tensor_release(tensor_exp(x));
    own->phase = PHASE_FORWARD;
    int site = own->site;
    site_leave(outer);
    tensor_release(tensor_relu(x)); // reaches the peak, but not more
    ck_assert_str_eq(ledger->peak_op, "exp");
    ck_assert_int_eq(ledger->peak_site, site);
    ck_assert_int_eq(ledger->peak_phase, PHASE_BACKWARD);
    scope_close(scope);
    tensor_free(x);
    leave();
}
END_TEST

// ---- lifetime and observers -------------------------------------------------------------------
START_TEST(a_storage_may_outlive_the_context_that_made_it) {
    enter(_i);
    Storage *a = cpu_storage(100);
    leave();
    memset(a->data, 1, 100);
    ck_assert_int_eq(a->ledger->live.total, 100);
    storage_release(a); // and its ledger with it
}
END_TEST

typedef struct Sum {
    Observer observer; // must be first
    int64_t bytes[2];  // 0: allocated, 1: freed
    int events;
} Sum;

static void add_delta(Observer *self, const Storage *storage, int64_t delta) {
    Sum *sum = (Sum *)self;
    ck_assert_int_eq(llabs(delta), storage->bytes);
    sum->bytes[delta < 0] += llabs(delta);
    sum->events++;
}

START_TEST(observers_see_every_storage_come_and_go) {
    enter(_i);
    Sum sum = {.observer = {.storage = add_delta}};
    observer_add(&sum.observer);
    Scope *scope = scope_open();
    Tensor *x = tensor_zeros_new(SHAPE(25));
    tensor_reshape(tensor_relu(x), SHAPE(5, 5)); // the view adds no storage
    scope_close(scope);
    tensor_free(x);
    observer_remove(&sum.observer);
    storage_release(cpu_storage(10)); // not seen any more
    ck_assert_int_eq(sum.events, 4);
    ck_assert_int_eq(sum.bytes[0], 200);
    ck_assert_int_eq(sum.bytes[1], 200);
    leave();
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {live_bytes_are_the_requested_ones_by_category, 2},
        {the_peak_is_the_composition_at_its_moment_and_adds_up, 2},
        {the_peak_names_the_op_the_site_and_the_phase, 0},
        {a_storage_may_outlive_the_context_that_made_it, 2},
        {observers_see_every_storage_come_and_go, 2},
        {NULL, 0},
    };
    return harness_main("storage", tests);
}
