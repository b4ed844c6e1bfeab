// test_exercise_support.c -- what student code runs against: the virtual clock, the ledger, the
// mock device, input lines and lists of memory events.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "exercises/support/ledger.h"
#include "exercises/support/memory_text.h"
#include "exercises/support/mock_device_setup.h"
#include "exercises/support/virtual_work.h"
#include "tests/harness.h"

enum { US = 1000000, MS = 1000 * US }; // picoseconds

static struct timespec read_clock(clockid_t id) {
    struct timespec now;
    ck_assert_int_eq(lab_clock_gettime(id, &now), 0);
    return now;
}

static void check_time(struct timespec got, int64_t seconds, int64_t nanoseconds) {
    ck_assert_int_eq(got.tv_sec, seconds);
    ck_assert_int_eq(got.tv_nsec, nanoseconds);
}

// ---- the clock ---------------------------------------------------------------------------------
START_TEST(clock_advances_by_what_is_done_and_wraps) {
    virtual_clock_start((VirtualClock){.resolution_ns = 1, .monotonic_ns = 10999999000});
    check_time(read_clock(CLOCK_MONOTONIC), 10, 999999000);
    virtual_clock_work(3 * US);
    check_time(read_clock(CLOCK_MONOTONIC), 11, 2000);
    check_time(read_clock(CLOCK_MONOTONIC_RAW), 11, 2000);
    virtual_clock_work(-5);
    virtual_clock_wait(0);
    ck_assert_int_eq(virtual_clock_now(), 3 * US);
    ck_assert_int_eq(virtual_clock_readings(), 3);
}
END_TEST

START_TEST(clock_stands_still_between_steps) {
    virtual_clock_start((VirtualClock){.resolution_ns = 15625000, .monotonic_ns = 15625000});
    struct timespec step;
    ck_assert_int_eq(lab_clock_getres(CLOCK_MONOTONIC, &step), 0);
    check_time(step, 0, 15625000);
    virtual_clock_work(INT64_C(15624999999));
    check_time(read_clock(CLOCK_MONOTONIC), 0, 15625000);
    virtual_clock_work(1);
    check_time(read_clock(CLOCK_MONOTONIC), 0, 31250000);
}
END_TEST

START_TEST(coarse_clock_has_its_own_step) {
    virtual_clock_start((VirtualClock){.resolution_ns = 1});
    struct timespec step;
    lab_clock_getres(CLOCK_MONOTONIC_COARSE, &step);
    check_time(step, 0, 4000000);
    virtual_clock_work(INT64_C(7) * MS);
    check_time(read_clock(CLOCK_MONOTONIC_COARSE), 0, 4000000);
    check_time(read_clock(CLOCK_MONOTONIC), 0, 7000000);
}
END_TEST

START_TEST(wall_clock_is_set_and_the_others_are_not) {
    virtual_clock_start((VirtualClock){.resolution_ns = 1,
                                       .realtime_ns = 1700000000000000000,
                                       .set_after_ns = 2000000,
                                       .set_by_ns = -1000000});
    virtual_clock_work(MS);
    check_time(read_clock(CLOCK_REALTIME), 1700000000, 1000000);
    virtual_clock_work(MS);
    check_time(read_clock(CLOCK_REALTIME), 1700000000, 1000000);
    check_time(read_clock(CLOCK_MONOTONIC), 0, 2000000);
    struct timeval value;
    lab_gettimeofday(&value, NULL);
    ck_assert_int_eq(value.tv_usec, 1000);
    time_t stored = 0;
    ck_assert_int_eq(lab_time(&stored), 1700000000);
    ck_assert_int_eq(stored, lab_time(NULL));
    struct timespec utc;
    ck_assert_int_eq(lab_timespec_get(&utc, TIME_UTC), TIME_UTC);
    ck_assert_int_eq(lab_timespec_get(&utc, TIME_UTC + 7), 0);
}
END_TEST

START_TEST(processor_time_stops_while_waiting) {
    virtual_clock_start((VirtualClock){.resolution_ns = 1});
    virtual_clock_work(INT64_C(5) * MS);
    virtual_clock_wait(INT64_C(20) * MS);
    check_time(read_clock(CLOCK_PROCESS_CPUTIME_ID), 0, 5000000);
    check_time(read_clock(CLOCK_MONOTONIC), 0, 25000000);
    ck_assert_int_eq(lab_clock(), 5000);
    ck_assert_int_eq(lab_nanosleep(&(struct timespec){.tv_nsec = 1000}, NULL), 0);
    check_time(read_clock(CLOCK_MONOTONIC), 0, 25001000);
    ck_assert_int_eq(lab_nanosleep(&(struct timespec){.tv_nsec = 1000000000}, NULL), -1);
    ck_assert_int_eq(errno, EINVAL);
}
END_TEST

START_TEST(readings_cost_and_unknown_clocks_are_refused) {
    virtual_clock_start((VirtualClock){.resolution_ns = 0, .reading_ps = 25000});
    check_time(read_clock(CLOCK_MONOTONIC), 0, 25);
    check_time(read_clock(CLOCK_MONOTONIC), 0, 50);
    struct timespec now;
    ck_assert_int_eq(lab_clock_gettime(4711, &now), -1);
    ck_assert_int_eq(lab_clock_getres(4711, NULL), -1);
    ck_assert_int_eq(lab_clock_getres(CLOCK_MONOTONIC, NULL), 0);
    ck_assert_int_eq(virtual_clock_readings(), 2);
}
END_TEST

START_TEST(work_follows_its_schedule) {
    VirtualWork work = {.base_ps = 100, .cold_ps = 64, .outlier_every = 3, .outlier_ps = 1000};
    const int64_t expected[] = {164, 116, 1104, 101, 100, 1100, 100};
    int64_t sum = 0;
    virtual_clock_start((VirtualClock){.resolution_ns = 1});
    for (int i = 0; i < 7; i++) {
        ck_assert_int_eq(virtual_work_ps(&work, i), expected[i]);
        virtual_work_run(&work);
        sum += expected[i];
        ck_assert_int_eq(virtual_clock_now(), sum);
    }
    ck_assert_int_eq(work.runs, 7);
    work = (VirtualWork){.base_ps = 1000, .jitter_ps = 9, .seed = 3};
    bool seen[10] = {false};
    for (int i = 0; i < 1000; i++) seen[virtual_work_ps(&work, i) - 1000] = true;
    for (int i = 0; i < 10; i++) ck_assert(seen[i]);
}
END_TEST

START_TEST(fields_survive_an_input_line) {
    char text[400] = "ask=3";
    VirtualWork work = {.base_ps = 1, .jitter_ps = INT64_MAX, .seed = -4, .asleep_percent = 7};
    VirtualClock clock = {.resolution_ns = 9, .set_by_ns = INT64_MIN};
    virtual_work_write(&work, text, sizeof text);
    virtual_clock_write(&clock, text, sizeof text);
    VirtualWork again = virtual_work_read(text);
    VirtualClock clock_again = virtual_clock_read(text);
    ck_assert_mem_eq(&work, &again, sizeof work);
    ck_assert_mem_eq(&clock, &clock_again, sizeof clock);
    ck_assert_int_eq(input_integer(text, "ask", 0), 3);
    ck_assert_int_eq(input_integer(text, "sk", 8), 8);
    ck_assert_int_eq(input_integer("", "ask", 8), 8);
}
END_TEST

// ---- the ledger --------------------------------------------------------------------------------
START_TEST(ledger_counts_what_lives) {
    lab_ledger_start();
    char *a = lab_malloc(10), *b = lab_calloc(3, 5), *c = lab_aligned_alloc(64, 64);
    ck_assert(a && b && c && b[14] == 0 && (uintptr_t)c % 64 == 0);
    ck_assert_int_eq(lab_ledger_now().live_bytes, 89);
    a = lab_realloc(a, 1000);
    ck_assert_ptr_nonnull(a);
    ck_assert_int_eq(lab_ledger_now().requests, 4);
    ck_assert_int_eq(lab_ledger_now().live, 3);
    lab_free(b);
    lab_free(NULL);
    ck_assert_int_eq(lab_ledger_now().live_bytes, 1064);
    ck_assert_int_eq(lab_ledger_now().bad_frees, 0);
    void *d = lab_realloc(NULL, 0), *e = lab_malloc(0), *f = lab_calloc(0, 9);
    ck_assert(d && e && f);
    ck_assert_int_eq(lab_ledger_now().live, 5);
    lab_ledger_start(); // what is left is given back: a leak would fail this test under asan
    ck_assert_int_eq(lab_ledger_now().live, 0);
}
END_TEST

START_TEST(ledger_survives_bad_frees) {
    lab_ledger_start();
    int local;
    char *a = lab_malloc(10);
    lab_free(a);
    lab_free(a);
    lab_free(&local);
    ck_assert_ptr_null(lab_realloc(&local, 5));
    ck_assert_int_eq(lab_ledger_now().bad_frees, 3);
    void *block = NULL;
    ck_assert_int_eq(lab_posix_memalign(&block, 24, 8), EINVAL);
    ck_assert_int_eq(lab_ledger_now().live, 0);
    lab_ledger_start();
}
END_TEST

START_TEST(ledger_fails_the_request_it_was_told) {
    lab_ledger_start();
    lab_ledger_fail_at(2);
    void *a = lab_malloc(1), *b = lab_malloc(1), *c = lab_malloc(1);
    ck_assert(a && !b && c);
    ck_assert_int_eq(lab_ledger_now().requests, 3);
    for (int i = 0; i < 1000; i++) ck_assert_ptr_nonnull(lab_malloc(1));
    ck_assert_int_eq(lab_ledger_now().live, 1002);
    lab_ledger_start();
}
END_TEST

// ---- the device --------------------------------------------------------------------------------
static const MockDeviceTimes times = {.launch = 4 * US,
                                      .record = US,
                                      .wake_up = 50 * US,
                                      .load = 1000 * US,
                                      .copy_latency = 10 * US,
                                      .copy_ps_per_kilobyte = 40000};

START_TEST(launches_return_before_kernels_end) {
    virtual_clock_start((VirtualClock){.resolution_ns = 1});
    MockDevice *device = mock_device_new(times);
    MockKernel kernel = {.picoseconds = 500 * US};
    ck_assert_int_eq(mock_launch(device, &kernel), STATUS_OK);
    ck_assert_int_eq(virtual_clock_now(), 4 * US);
    ck_assert_int_eq(mock_synchronize(device), STATUS_OK);
    ck_assert_int_eq(virtual_clock_now(), (4 + 1000 + 500 + 50) * US); // the first is loaded
    int64_t begun = virtual_clock_now();
    mock_launch(device, &kernel);
    mock_launch(device, &kernel); // queued while the other runs
    mock_synchronize(device);
    ck_assert_int_eq(virtual_clock_now() - begun, (4 + 500 + 500 + 50) * US);
    begun = virtual_clock_now();
    mock_synchronize(device); // nothing to wait for
    ck_assert_int_eq(virtual_clock_now(), begun);
    ck_assert_int_eq(mock_device_launches(device), 3);
    mock_device_free(device);
}
END_TEST

START_TEST(copies_take_latency_and_bandwidth) {
    virtual_clock_start((VirtualClock){.resolution_ns = 1});
    MockDevice *device = mock_device_new(times);
    ck_assert_int_eq(mock_copy_ps(&times, 1000000), (10 + 40) * US);
    ck_assert_int_eq(mock_copy_to_device_async(device, 1000000), STATUS_OK);
    ck_assert_int_eq(virtual_clock_now(), 4 * US);
    ck_assert_int_eq(mock_copy_to_host(device, 1000000), STATUS_OK);
    ck_assert_int_eq(virtual_clock_now(), (4 + 50 + 50 + 50) * US);
    ck_assert_int_eq(mock_copy_to_host_async(device, -1), STATUS_INVALID_ARGUMENT);
    error_clear();
    mock_device_free(device);
}
END_TEST

START_TEST(events_are_read_after_waiting_only) {
    virtual_clock_start((VirtualClock){.resolution_ns = 1});
    MockDevice *device = mock_device_new(times);
    MockEvent *start = mock_event_new(device), *stop = mock_event_new(device);
    MockKernel kernel = {.picoseconds = 500 * US};
    double seconds = -1.0;
    ck_assert_int_eq(mock_event_synchronize(start), STATUS_STATE);
    mock_launch(device, &kernel); // loaded; the events come behind it
    mock_event_record(start);
    mock_launch(device, &kernel);
    mock_event_record(stop);
    ck_assert_int_eq(mock_event_elapsed(start, stop, &seconds), STATUS_STATE);
    ck_assert_int_eq(mock_event_synchronize(start), STATUS_OK);
    ck_assert_int_eq(mock_event_elapsed(start, stop, &seconds), STATUS_STATE);
    ck_assert_double_eq(seconds, -1.0);
    ck_assert_int_eq(mock_event_synchronize(stop), STATUS_OK);
    ck_assert_int_eq(mock_event_elapsed(start, stop, &seconds), STATUS_OK);
    ck_assert_double_eq_tol(seconds, 500e-6, 1e-15);
    ck_assert_int_eq(mock_device_events(device), 2);
    mock_event_free(start);
    mock_event_free(NULL);
    ck_assert_int_eq(mock_device_events(device), 1);
    error_clear();
    mock_device_free(device);
}
END_TEST

START_TEST(a_kernel_fails_at_the_next_wait_once) {
    virtual_clock_start((VirtualClock){.resolution_ns = 1});
    MockDevice *device = mock_device_new(times);
    MockKernel kernel = {.picoseconds = US, .fails = true};
    ck_assert_int_eq(mock_launch(device, &kernel), STATUS_OK);
    ck_assert_int_eq(mock_synchronize(device), STATUS_DEVICE);
    ck_assert(strstr(error_message(), "HINT") != NULL);
    error_clear();
    ck_assert_int_eq(mock_synchronize(device), STATUS_OK);
    mock_device_free(device);
}
END_TEST

// ---- lists of events ---------------------------------------------------------------------------
START_TEST(memory_text_is_read_and_written) {
    const char *text = " p1=400 g2=0 o30=7 a4=-5 w5=1234567890123 -30 -1";
    AllocationEvent events[8];
    char again[100] = "";
    ck_assert_int_eq(memory_text_read(text, events, 8), 7);
    ck_assert(events[2].kind == MEMORY_OPTIMIZER && events[2].id == 30 && events[2].bytes == 7);
    ck_assert(events[5].is_free && events[5].id == 30);
    memory_text_write(events, 7, again, sizeof again);
    ck_assert_str_eq(again, text);
    ck_assert_int_eq(memory_text_read(text, events, 3), 3);
    const char *const wrong[] = {"", "x1=4", "p=4", "p1", "p1=", "-", "=", "p1=x"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        ck_assert_int_eq(memory_text_read(wrong[i], events, 8), 0);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {{clock_advances_by_what_is_done_and_wraps, 0},
                                 {clock_stands_still_between_steps, 0},
                                 {coarse_clock_has_its_own_step, 0},
                                 {wall_clock_is_set_and_the_others_are_not, 0},
                                 {processor_time_stops_while_waiting, 0},
                                 {readings_cost_and_unknown_clocks_are_refused, 0},
                                 {work_follows_its_schedule, 0},
                                 {fields_survive_an_input_line, 0},
                                 {ledger_counts_what_lives, 0},
                                 {ledger_survives_bad_frees, 0},
                                 {ledger_fails_the_request_it_was_told, 0},
                                 {launches_return_before_kernels_end, 0},
                                 {copies_take_latency_and_bandwidth, 0},
                                 {events_are_read_after_waiting_only, 0},
                                 {a_kernel_fails_at_the_next_wait_once, 0},
                                 {memory_text_is_read_and_written, 0},
                                 {NULL, 0}};
    return harness_main("exercise_support", tests);
}
