// test_exercise_support.c -- the environment of student code: the virtual clock and its work, the
// mock device's queue, the ledger, input lines and lists of memory events. test_dialogue.c tests a
// worker's calls.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exercises/scene/mock_queue.h"
#include "exercises/scene/virtual_time.h"
#include "exercises/support/ledger.h"
#include "exercises/support/memory_text.h"
#include "exercises/support/worker.h"
#include "tests/helpers/harness.h"

enum { US = 1000000, MS = 1000 * US }; // picoseconds

// In place of the worker's: ends the test's process.
_Noreturn void worker_overrun(void) { _exit(WORKER_OVERRUN); }

static void check_read(VirtualTime *time, clockid_t id, int64_t seconds, int64_t nanoseconds) {
    struct timespec now;
    ck_assert(virtual_time_read(time, id, &now));
    ck_assert_int_eq(now.tv_sec, seconds);
    ck_assert_int_eq(now.tv_nsec, nanoseconds);
}

// ---- the clock ---------------------------------------------------------------------------------
START_TEST(clock_advances_by_what_is_done_and_wraps) {
    VirtualTime time =
        virtual_time_start((VirtualClock){.resolution_ns = 1, .monotonic_ns = 10999999000});
    check_read(&time, CLOCK_MONOTONIC, 10, 999999000);
    virtual_time_work(&time, 3 * US);
    check_read(&time, CLOCK_MONOTONIC, 11, 2000);
    check_read(&time, CLOCK_MONOTONIC_RAW, 11, 2000);
    virtual_time_work(&time, -5);
    virtual_time_wait(&time, 0);
    ck_assert_int_eq(time.now, 3 * US);
    ck_assert_int_eq(time.readings, 3);
}
END_TEST

START_TEST(clock_stands_still_between_steps) {
    VirtualTime time =
        virtual_time_start((VirtualClock){.resolution_ns = 15625000, .monotonic_ns = 15625000});
    struct timespec step;
    ck_assert(virtual_time_step(&time, CLOCK_MONOTONIC, &step));
    ck_assert_int_eq(step.tv_nsec, 15625000);
    virtual_time_work(&time, INT64_C(15624999999));
    check_read(&time, CLOCK_MONOTONIC, 0, 15625000);
    virtual_time_work(&time, 1);
    check_read(&time, CLOCK_MONOTONIC, 0, 31250000);
}
END_TEST

START_TEST(coarse_clock_has_its_own_step) {
    VirtualTime time = virtual_time_start((VirtualClock){.resolution_ns = 1});
    struct timespec step;
    ck_assert(virtual_time_step(&time, CLOCK_MONOTONIC_COARSE, &step));
    ck_assert_int_eq(step.tv_nsec, 4000000);
    virtual_time_work(&time, INT64_C(7) * MS);
    check_read(&time, CLOCK_MONOTONIC_COARSE, 0, 4000000);
    check_read(&time, CLOCK_MONOTONIC, 0, 7000000);
}
END_TEST

START_TEST(wall_clock_is_set_and_the_others_are_not) {
    VirtualTime time = virtual_time_start((VirtualClock){.resolution_ns = 1,
                                                         .realtime_ns = 1700000000000000000,
                                                         .set_after_ns = 2000000,
                                                         .set_by_ns = -1000000});
    virtual_time_work(&time, MS);
    check_read(&time, CLOCK_REALTIME, 1700000000, 1000000);
    virtual_time_work(&time, MS);
    check_read(&time, CLOCK_REALTIME, 1700000000, 1000000);
    check_read(&time, CLOCK_MONOTONIC, 0, 2000000);
}
END_TEST

START_TEST(processor_time_stops_while_waiting) {
    VirtualTime time = virtual_time_start((VirtualClock){.resolution_ns = 1});
    virtual_time_work(&time, INT64_C(5) * MS);
    virtual_time_wait(&time, INT64_C(20) * MS);
    check_read(&time, CLOCK_PROCESS_CPUTIME_ID, 0, 5000000);
    check_read(&time, CLOCK_THREAD_CPUTIME_ID, 0, 5000000);
    check_read(&time, CLOCK_MONOTONIC, 0, 25000000);
}
END_TEST

START_TEST(readings_cost_and_unknown_clocks_are_refused) {
    VirtualTime time = virtual_time_start((VirtualClock){.resolution_ns = 0, .reading_ps = 25000});
    check_read(&time, CLOCK_MONOTONIC, 0, 25);
    check_read(&time, CLOCK_MONOTONIC, 0, 50);
    struct timespec now;
    ck_assert(!virtual_time_read(&time, 4711, &now));
    ck_assert(!virtual_time_step(&time, 4711, &now));
    ck_assert_int_eq(time.readings, 2);
}
END_TEST

// A wait for the clock's next step ends, however long the step is and however short a reading.
START_TEST(who_waits_for_a_step_meets_one) {
    static const int64_t steps[] = {1, 1000, 1000000, 1000000000};
    VirtualTime time = virtual_time_start((VirtualClock){.resolution_ns = steps[_i]});
    struct timespec first, now;
    ck_assert(virtual_time_read(&time, CLOCK_MONOTONIC, &first));
    for (int i = 0; i < 6; i++) { // a few readings in a row change nothing
        virtual_time_read(&time, CLOCK_MONOTONIC, &now);
        ck_assert_int_eq(time.now, 0);
    }
    int readings = 0;
    do {
        virtual_time_read(&time, CLOCK_MONOTONIC, &now);
        readings++;
    } while (now.tv_sec == first.tv_sec && now.tv_nsec == first.tv_nsec);
    ck_assert_int_lt(readings, 40);
}
END_TEST

START_TEST(time_ends_and_does_not_overflow) {
    VirtualTime time = virtual_time_start((VirtualClock){.resolution_ns = 1});
    for (int i = 0; i < 5; i++) {
        virtual_time_work(&time, INT64_MAX);
        virtual_time_wait(&time, INT64_MAX);
    }
    ck_assert_int_eq(time.now, INT64_MAX / 2);
    struct timespec now;
    ck_assert(virtual_time_read(&time, CLOCK_MONOTONIC, &now));
}
END_TEST

START_TEST(work_follows_its_schedule) {
    VirtualWork work = {.base_ps = 100, .cold_ps = 64, .outlier_every = 3, .outlier_ps = 1000};
    const int64_t expected[] = {164, 116, 1104, 101, 100, 1100, 100};
    int64_t sum = 0;
    VirtualTime time = virtual_time_start((VirtualClock){.resolution_ns = 1});
    for (int i = 0; i < 7; i++) {
        ck_assert_int_eq(virtual_work_ps(&work, i), expected[i]);
        virtual_work_run(&work, 1, &time);
        sum += expected[i];
        ck_assert_int_eq(time.now, sum);
    }
    ck_assert_int_eq(work.runs, 7);
    work = (VirtualWork){.base_ps = 1000, .jitter_ps = 9, .seed = 3};
    bool seen[10] = {false};
    for (int i = 0; i < 1000; i++) seen[virtual_work_ps(&work, i) - 1000] = true;
    for (int i = 0; i < 10; i++) ck_assert(seen[i]);
}
END_TEST

START_TEST(many_runs_in_a_row_are_as_many_one_by_one) {
    const VirtualWork works[] = {{.base_ps = 700},
                                 {.base_ps = 700, .asleep_percent = 30},
                                 {.base_ps = 700, .jitter_ps = 50, .seed = 9},
                                 {.base_ps = 700, .cold_ps = 5000, .outlier_every = 7}};
    VirtualWork one = works[_i], many = works[_i];
    VirtualTime times[2] = {virtual_time_start((VirtualClock){.resolution_ns = 1}),
                            virtual_time_start((VirtualClock){.resolution_ns = 1})};
    for (int i = 0; i < 1000; i++) virtual_work_run(&one, 1, &times[0]);
    virtual_work_run(&many, 1000, &times[1]);
    ck_assert_int_eq(one.runs, many.runs);
    ck_assert_int_eq(times[0].now, times[1].now);
    if (_i != 1) ck_assert_int_eq(times[0].busy, times[1].busy);
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
    lab_ledger_start(); // frees the rest: a leak would fail this test under asan
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
    ck_assert_int_eq(lab_posix_memalign(&block, 4, 8), EINVAL);
    ck_assert_ptr_null(lab_aligned_alloc(24, 8));
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

void __asan_poison_memory_region(const volatile void *start, size_t bytes) __attribute__((weak));

// _i / 2: found at free (0), at realloc (1), when the ledger is read (2).
START_TEST(what_is_written_beyond_a_block_is_found) {
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        lab_ledger_start();
        volatile char *block = lab_malloc(10);
        block[_i % 2 ? 10 : 41] = 0; // first and last byte of the guard
        if (_i / 2 == 0) lab_free((void *)block);
        if (_i / 2 == 1) block = lab_realloc((void *)block, 100);
        if (_i / 2 == 2) (void)lab_ledger_now();
        _exit(0);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    bool own_guards = !__asan_poison_memory_region; // AddressSanitizer's end with 1
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == (own_guards ? WORKER_OVERRUN : 1));
}
END_TEST

START_TEST(sizes_that_overflow_are_refused) {
    lab_ledger_start();
    ck_assert_ptr_null(lab_malloc(SIZE_MAX));
    ck_assert_ptr_null(lab_calloc(SIZE_MAX / 2, 3));
    ck_assert_ptr_null(lab_reallocarray(NULL, SIZE_MAX / 2, 3));
    ck_assert_ptr_null(lab_aligned_alloc(64, SIZE_MAX - 8));
    ck_assert_int_eq(lab_ledger_now().live, 0);
    char *copy = lab_strndup("hello", 3);
    ck_assert_str_eq(copy, "hel");
    lab_free(copy);
    ck_assert_int_eq(lab_asprintf(&copy, "%d of %s", 3, "four"), 9);
    ck_assert_str_eq(copy, "3 of four");
    ck_assert_int_eq(lab_ledger_now().live, 1);
    lab_free(copy);
    lab_ledger_fail_at(1);
    ck_assert_int_eq(lab_asprintf(&copy, "%d", 3), -1);
    ck_assert_ptr_null(copy);
    ck_assert_int_eq(lab_ledger_now().live, 0);
}
END_TEST

// ---- the device --------------------------------------------------------------------------------
typedef struct Mock {
    MockQueue queue;
    VirtualTime time;
} Mock;

static Mock device_with(int64_t kernel) {
    return (Mock){.queue.times = {.launch = 4 * US,
                                  .record = US,
                                  .wake_up = 50 * US,
                                  .load = 1000 * US,
                                  .copy_latency = 10 * US,
                                  .copy_ps_per_kilobyte = 40000,
                                  .kernel = kernel},
                  .time = virtual_time_start((VirtualClock){.resolution_ns = 1})};
}

START_TEST(launches_return_before_kernels_end) {
    Mock d = device_with(500 * US);
    mock_launch_on(&d.queue, 1, &d.time);
    ck_assert_int_eq(d.time.now, 4 * US);
    ck_assert_int_eq(mock_wait(&d.queue, &d.time), STATUS_OK);
    ck_assert_int_eq(d.time.now, (4 + 1000 + 500 + 50) * US); // the first launch loads
    int64_t begun = d.time.now;
    mock_launch_on(&d.queue, 2, &d.time); // the second is queued while the first runs
    mock_wait(&d.queue, &d.time);
    ck_assert_int_eq(d.time.now - begun, (4 + 500 + 500 + 50) * US);
    begun = d.time.now;
    mock_wait(&d.queue, &d.time); // nothing to wait for
    ck_assert_int_eq(d.time.now, begun);
    ck_assert_int_eq(d.queue.launches, 3);
}
END_TEST

START_TEST(copies_take_latency_and_bandwidth) {
    Mock d = device_with(US);
    ck_assert_int_eq(mock_copy_ps(&d.queue.times, 1000000), (10 + 40) * US);
    // An argument that no worker sends must not turn time back.
    ck_assert_int_eq(mock_copy_out_ps(&d.queue.times, INT64_MIN), mock_copy_ps(&d.queue.times, 0));
    mock_copy_on(&d.queue, 1000000, &d.time);
    ck_assert_int_eq(d.time.now, 4 * US);
    mock_copy_on(&d.queue, 1000000, &d.time);
    mock_wait(&d.queue, &d.time);
    ck_assert_int_eq(d.time.now, (4 + 50 + 50 + 50) * US);
    ck_assert_int_eq(d.queue.awaited_order, MOCK_ORDER_PART);
    ck_assert_int_gt(mock_copy_ps(&d.queue.times, INT64_MAX), 0);
}
END_TEST

START_TEST(the_order_is_that_of_what_was_awaited_last) {
    Mock d = device_with(US);
    for (int turn = 0; turn < 2; turn++) {
        mock_copy_on(&d.queue, 1, &d.time);
        mock_launch_on(&d.queue, 3, &d.time);
        mock_launch_on(&d.queue, 1, &d.time);
        ck_assert_int_eq(d.queue.awaited_order, turn == 0 ? MOCK_ORDER_NONE : MOCK_ORDER_RIGHT);
        mock_copy_out_on(&d.queue, 1, &d.time);
        mock_wait(&d.queue, &d.time);
        mock_wait(&d.queue, &d.time);
        ck_assert_int_eq(d.queue.awaited_order, MOCK_ORDER_RIGHT);
    }
    mock_copy_out_on(&d.queue, 1, &d.time);
    mock_launch_on(&d.queue, 1, &d.time);
    mock_copy_on(&d.queue, 1, &d.time);
    mock_wait(&d.queue, &d.time);
    ck_assert_int_eq(d.queue.awaited_order, MOCK_ORDER_OTHER);
    for (int i = 0; i < 100; i++) {
        mock_copy_on(&d.queue, 1, &d.time);
        mock_launch_on(&d.queue, 1, &d.time);
    }
    mock_wait(&d.queue, &d.time);
    ck_assert_int_eq(d.queue.awaited_order, MOCK_ORDER_MORE);
}
END_TEST

START_TEST(events_are_read_after_waiting_only) {
    Mock d = device_with(500 * US);
    double seconds = -1.0;
    int64_t start = mock_event_make(&d.queue), stop = mock_event_make(&d.queue);
    ck_assert_int_eq(mock_event_wait(&d.queue, start, &d.time), STATUS_STATE);
    mock_launch_on(&d.queue, 1, &d.time); // loads; the events come after it
    mock_event_mark(&d.queue, start, &d.time);
    mock_launch_on(&d.queue, 1, &d.time);
    mock_event_mark(&d.queue, stop, &d.time);
    ck_assert_int_eq(mock_event_between(&d.queue, start, stop, &seconds), STATUS_STATE);
    ck_assert_int_eq(mock_event_wait(&d.queue, start, &d.time), STATUS_OK);
    ck_assert_int_eq(mock_event_between(&d.queue, start, stop, &seconds), STATUS_STATE);
    ck_assert_double_eq(seconds, -1.0);
    ck_assert_int_eq(mock_event_wait(&d.queue, stop, &d.time), STATUS_OK);
    ck_assert_int_eq(mock_event_between(&d.queue, start, stop, &seconds), STATUS_OK);
    ck_assert_double_eq_tol(seconds, 500e-6, 1e-15);
    ck_assert_int_eq(d.queue.live, 2);
    mock_event_drop(&d.queue, start);
    mock_event_drop(&d.queue, start); // only counted as misuse
    mock_event_drop(&d.queue, 4711);
    ck_assert_int_eq(d.queue.live, 1);
    ck_assert_int_eq(d.queue.misuses, 2);
}
END_TEST

START_TEST(events_run_out) {
    Mock d = device_with(US);
    for (int i = 0; i < MOCK_MOST_EVENTS; i++) ck_assert_int_eq(mock_event_make(&d.queue), i);
    ck_assert_int_eq(mock_event_make(&d.queue), -1);
}
END_TEST

START_TEST(a_kernel_fails_at_the_next_wait_once) {
    Mock d = device_with(US);
    d.queue.times.fails = 1;
    mock_launch_on(&d.queue, 1, &d.time);
    ck_assert_int_eq(mock_wait(&d.queue, &d.time), STATUS_DEVICE);
    ck_assert_int_eq(mock_wait(&d.queue, &d.time), STATUS_OK);
}
END_TEST

START_TEST(the_warm_up_may_have_more_launches_than_one) {
    for (int more = 0; more < 4; more++) {
        Mock d = device_with(US);
        mock_launch_on(&d.queue, 1 + more, &d.time);
        ck_assert(!mock_warm_up_awaited(&d.queue));
        mock_wait(&d.queue, &d.time);
        ck_assert(!mock_warm_up_awaited(&d.queue)); // nothing else was launched yet
        for (int i = 0; i < more; i++) {
            mock_launch_on(&d.queue, 1, &d.time);
            mock_wait(&d.queue, &d.time);
        }
        mock_launch_on(&d.queue, 3, &d.time);
        ck_assert(mock_warm_up_awaited(&d.queue));
    }
    Mock d = device_with(US);
    mock_launch_on(&d.queue, 1, &d.time); // without a wait
    mock_launch_on(&d.queue, 3, &d.time);
    mock_wait(&d.queue, &d.time);
    ck_assert(!mock_warm_up_awaited(&d.queue));
}
END_TEST

// A kernel after the warm-up fails, however long that was.
START_TEST(a_kernel_fails_behind_a_copy) {
    Mock d = device_with(US);
    d.queue.times.fails_behind = 2;
    mock_launch_on(&d.queue, 5, &d.time);
    ck_assert_int_eq(mock_wait(&d.queue, &d.time), STATUS_OK);
    mock_copy_on(&d.queue, 1, &d.time);
    mock_launch_on(&d.queue, 1, &d.time);
    ck_assert_int_eq(mock_wait(&d.queue, &d.time), STATUS_OK);
    mock_launch_on(&d.queue, 1, &d.time);
    ck_assert_int_eq(mock_wait(&d.queue, &d.time), STATUS_DEVICE);
}
END_TEST

// ---- lists of events ---------------------------------------------------------------------------
START_TEST(memory_text_is_read_and_written) {
    const char *text = " p1=400 g2=0 o30=7 a4=-5 w5=1234567890123 -30 -1";
    AllocationEvent events[8], many[16];
    char again[100] = "";
    ck_assert_int_eq(memory_text_read(text, events, 8), 7);
    ck_assert(events[2].kind == MEMORY_OPTIMIZER && events[2].id == 30 && events[2].bytes == 7);
    ck_assert(events[5].is_free && events[5].id == 30);
    memory_text_write(events, 7, again, sizeof again);
    ck_assert_str_eq(again, text);
    ck_assert_int_eq(memory_text_read(text, events, 3), 3);
    text = " a-2=4 a5..8=4 --2 -w5=-70 -6..8";
    again[0] = '\0';
    ck_assert_int_eq(memory_text_read(text, many, 16), 10);
    ck_assert(many[4].id == 8 && many[4].bytes == 4 && many[5].is_free && many[5].id == -2);
    ck_assert(many[6].is_free && many[6].kind == MEMORY_WORKSPACE && many[6].bytes == -70);
    memory_text_write(many, 10, again, sizeof again);
    ck_assert_str_eq(again, text);
    ck_assert_int_eq(memory_text_read("a1..2000=4", many, 16), 16);
    text = " a9223372036854775807=4 a-9223372036854775808=4 a-9223372036854775807=4";
    again[0] = '\0';
    memory_text_write(many, memory_text_read(text, many, 16), again, sizeof again);
    ck_assert_str_eq(again, text); // two ids too low, one id too high
    const char *const wrong[] = {"", "x1=4", "p=4", "p1", "p1=", "-", "=", "p1=x", "p1..=4", "-p1"};
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
                                 {who_waits_for_a_step_meets_one, 4},
                                 {time_ends_and_does_not_overflow, 0},
                                 {work_follows_its_schedule, 0},
                                 {many_runs_in_a_row_are_as_many_one_by_one, 4},
                                 {fields_survive_an_input_line, 0},
                                 {ledger_counts_what_lives, 0},
                                 {ledger_survives_bad_frees, 0},
                                 {ledger_fails_the_request_it_was_told, 0},
                                 {what_is_written_beyond_a_block_is_found, 6},
                                 {sizes_that_overflow_are_refused, 0},
                                 {launches_return_before_kernels_end, 0},
                                 {copies_take_latency_and_bandwidth, 0},
                                 {the_order_is_that_of_what_was_awaited_last, 0},
                                 {the_warm_up_may_have_more_launches_than_one, 0},
                                 {a_kernel_fails_behind_a_copy, 0},
                                 {events_are_read_after_waiting_only, 0},
                                 {events_run_out, 0},
                                 {a_kernel_fails_at_the_next_wait_once, 0},
                                 {memory_text_is_read_and_written, 0},
                                 {NULL, 0}};
    return harness_main("exercise_support", tests);
}
