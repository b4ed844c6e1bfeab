// test_machine_device.c -- the ceilings of a made-up card (card.h) whose every time is known: the
// measured values must be those that it was given. test_cuda_machine.c tests the emulated cuda.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profiler/machine/machine.h"
#include "tensor/memory.h"
#include "tests/helpers/expect.h"
#include "tests/profiler/machine/card.h"

static Card card;

static void use_card(bool stamps) {
    card_init(&card, stamps);
    context_set_device(&card.device);
}

static void check_close(double got, double want, const char *what) {
    ck_assert_msg(fabs(got - want) <= 1e-12 * want, "%s: %.17g instead of %.17g", what, got, want);
}

static void check_calm(void) { // the card has nothing left
    ck_assert_int_eq(card.live, 0);
    ck_assert_int_eq(expect_live_bytes(), 0);
}

// ---- measurements ------------------------------------------------------------------------------
START_TEST(what_the_card_does_by_its_own_time_is_measured) {
    Machine machine;
    use_card(true);
    ck_assert_msg(!machine_calibrate(NULL, NULL, &machine), "%s", error_message());
    ck_assert(machine.measured);
    ck_assert_str_eq(machine.device, "Made-up 1");
    ck_assert_str_eq(machine.fingerprint, "Made-up 1, number 7, driver 3");
    ck_assert_int_eq(machine.threads, 0);
    check_close(machine.peak_flops_per_second, 0x1p15 * 1e9, "peak"); // that of the larger products
    ck_assert_int_eq(machine.n_levels, 2);
    ck_assert_str_eq(machine.levels[0].name, "L2");
    ck_assert_str_eq(machine.levels[1].name, "DRAM");
    ck_assert_int_eq(machine.levels[0].bytes, 48 << 20);
    ck_assert_int_eq(machine.levels[1].bytes, INT64_MAX);
    check_close(machine.levels[0].bytes_per_second, 0x1p13 * 1e9, "L2");
    check_close(machine.levels[1].bytes_per_second, 0x1p12 * 1e9, "DRAM");
    check_close(machine.dispatch_seconds, 2500e-9, "launch");
    check_close(machine.from_host_bytes_per_second, 1024e9 / 32.0, "from the host");
    check_close(machine.to_host_bytes_per_second, 1024e9 / 64.0, "to the host");
    ck_assert(machine.call_seconds > 0.0 && machine.call_seconds < 1e-3); // measured by the clock
    ck_assert(machine.wake_seconds == 0.0 && machine.spin_seconds == 0.0);
    check_calm();
}
END_TEST

static double fraction_told;
static void note(void *argument, const char *what, double fraction) {
    ck_assert(argument == &card && what[0] && fraction >= fraction_told && fraction <= 1.0);
    fraction_told = fraction;
}

START_TEST(sizes_are_those_of_a_large_card_and_progress_ends_at_one) {
    Machine machine;
    use_card(true);
    ck_assert(!machine_calibrate(note, &card, &machine));
    ck_assert_double_eq(fraction_told, 1.0);
    ck_assert_int_eq(card.largest_product, 8192);
    ck_assert_int_eq(card.smallest_add, card.memory.cache / 2);
    ck_assert_int_eq(card.largest_add, 16 * card.memory.cache);
    ck_assert_int_le(card.most_live, INT64_C(2) << 30);
}
END_TEST

static const struct {
    int64_t free, cache;
    int levels; // 0: refused
} rooms[] = {
    {INT64_C(4) << 30, 48 << 20, 2},
    {300 << 20, 48 << 20, 2},
    {191 << 20, 48 << 20, 0},
    {100 << 20, 0, 1},
    {16 << 20, 0, 1},
    {15 << 20, 0, 0},
    {40 << 20, 1 << 20, 2},
    {0, 0, 0},
};
enum { ROOMS = sizeof rooms / sizeof rooms[0] };

START_TEST(no_more_than_half_of_what_is_free_is_taken) {
    Machine machine;
    use_card(true);
    card.memory.free = rooms[_i].free;
    card.memory.cache = rooms[_i].cache;
    Status status = machine_calibrate(NULL, NULL, &machine);
    ck_assert_int_eq(machine.n_levels, rooms[_i].levels);
    // Blocks are rounded up by an eighth at most.
    ck_assert_int_le(card.most_live, rooms[_i].free / 2 + rooms[_i].free / 16);
    check_calm();
    if (status) {
        expect_error(STATUS_OUT_OF_MEMORY, "are free on card: too few to measure its ceilings");
        return;
    }
    int last = machine.n_levels - 1;
    ck_assert_str_eq(machine.levels[last].name, "DRAM");
    check_close(machine.levels[last].bytes_per_second, 0x1p12 * 1e9, "DRAM");
    ck_assert_int_gt(card.largest_add, card.memory.cache);
    if (last > 0) check_close(machine.levels[0].bytes_per_second, 0x1p13 * 1e9, "L2");
}
END_TEST

START_TEST(without_stamps_the_clock_counts_until_the_card_is_done) {
    Machine machine;
    use_card(false);
    if (_i) card.device.memory = NULL; // nor facts about its memory
    ck_assert_msg(!machine_calibrate(NULL, NULL, &machine), "%s", error_message());
    ck_assert_int_eq(machine.n_levels, _i ? 1 : 2);
    ck_assert(machine.peak_flops_per_second > 0.0 && isfinite(machine.peak_flops_per_second));
    ck_assert(machine.dispatch_seconds > 0.0 && machine.call_seconds > 0.0);
    ck_assert(machine.to_host_bytes_per_second > 0.0 && machine.from_host_bytes_per_second > 0.0);
    ck_assert_int_gt(card.waits, 10);
    check_calm();
}
END_TEST

// ---- failures ----------------------------------------------------------------------------------
START_TEST(whatever_fails_is_told_and_nothing_stays) {
    Machine machine;
    use_card(_i + 1 != CARD_SYNCHRONIZE);
    card.fails = (CardCall)(_i + 1);
    Status want = card.fails == CARD_ALLOCATE ? STATUS_OUT_OF_MEMORY : STATUS_DEVICE;
    ck_assert_int_eq(machine_calibrate(NULL, NULL, &machine), want);
    ck_assert_int_eq(machine.n_levels, 0);
    expect_error(want, card.fails == CARD_ALLOCATE ? "card memory exhausted: " : "card: call");
    check_calm();
    ck_assert_ptr_eq(context_current()->device, &card.device);
}
END_TEST

START_TEST(any_of_the_first_requests_may_fail) {
    Machine machine;
    for (uint64_t nth = 1; nth <= 12; nth++) {
        use_card(true);
        card.fails = CARD_READ; // ends the measurement early
        memory_fail_at(nth);
        ck_assert_int_ne(machine_calibrate(NULL, NULL, &machine), STATUS_OK);
        memory_fail_at(0);
        ck_assert(error_status() == STATUS_OUT_OF_MEMORY || error_status() == STATUS_DEVICE);
        error_clear();
        check_calm();
    }
}
END_TEST

// ---- kept ceilings -----------------------------------------------------------------------------
static char folder[] = "/tmp/test_machine_device_XXXXXX";

static Machine obtain(bool fresh_wanted, char kept[512]) {
    Machine machine;
    bool fresh;
    ck_assert_msg(!machine_obtain(&(MachineRequest){0}, &machine, &fresh, kept), "%s",
                  error_message());
    ck_assert_int_eq(fresh, fresh_wanted);
    ck_assert_ptr_nonnull(strstr(kept, folder));
    return machine;
}

START_TEST(ceilings_are_kept_by_identity_whatever_the_threads) {
    char kept[3][512], host[512];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    setenv("XDG_CACHE_HOME", folder, 1);
    ck_assert(machine_cache_path(host, sizeof host));
    use_card(true);
    Machine first = obtain(true, kept[0]);
    context_set_threads(context_current()->threads + 1);
    Machine again = obtain(false, kept[1]);
    ck_assert_str_eq(kept[0], kept[1]);
    ck_assert_str_ne(kept[0], host);
    ck_assert_str_eq(again.device, "Made-up 1");
    check_close(again.peak_flops_per_second, first.peak_flops_per_second, "peak");
    check_close(again.call_seconds, first.call_seconds, "call");
    check_close(again.to_host_bytes_per_second, first.to_host_bytes_per_second, "to the host");
    card.device.identity = "Made-up 1, number 8, driver 3"; // its twin in the next slot
    obtain(true, kept[1]);
    ck_assert_str_ne(kept[0], kept[1]);
    card.device.uncached = true;
    obtain(true, kept[2]);
    ck_assert_str_ne(kept[1], kept[2]);
    for (int i = 0; i < 3; i++) ck_assert_int_eq(unlink(kept[i]), 0);
    snprintf(host, sizeof host, "%s/ridgepoint", folder);
    ck_assert_int_eq(rmdir(host) | rmdir(folder), 0);
}
END_TEST

START_TEST(given_ceilings_are_those_of_the_card_in_use) {
    Machine machine;
    bool fresh;
    char kept[512];
    const MachineRequest request = {.peaks_file = "tests/fixtures/peaks.json"};
    use_card(true);
    ck_assert_msg(!machine_obtain(&request, &machine, &fresh, kept), "%s", error_message());
    ck_assert(!machine.measured && !fresh);
    ck_assert_str_eq(machine.device, "Made-up 1");
    card.device.identity = NULL;
    ck_assert(!machine_obtain(&request, &machine, &fresh, kept));
    ck_assert_str_eq(machine.device, "card");
    context_set_device(device_cpu());
    ck_assert(!machine_obtain(&request, &machine, &fresh, kept));
    ck_assert_str_eq(machine.device, "");
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {what_the_card_does_by_its_own_time_is_measured, 0},
        {sizes_are_those_of_a_large_card_and_progress_ends_at_one, 0},
        {no_more_than_half_of_what_is_free_is_taken, ROOMS},
        {without_stamps_the_clock_counts_until_the_card_is_done, 2},
        {whatever_fails_is_told_and_nothing_stays, CARD_CALLS - 1},
        {any_of_the_first_requests_may_fail, 0},
        {ceilings_are_kept_by_identity_whatever_the_threads, 0},
        {given_ceilings_are_those_of_the_card_in_use, 0},
        {NULL, 0},
    };
    return harness_main("machine_device", tests);
}
