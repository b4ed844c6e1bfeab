// ex07_time_device_cases.c -- exercise 07 in the grader. The right times are those set for the mock
// device; a wrong time is that of a wrongly placed stopwatch, by the device's own rules. The first
// run of a case is fixed, and tells mistakes apart; the others vary the numbers.
#include <stdio.h>

#include "exercises/course/exercise.h"
#include "exercises/course/values.h"
#include "exercises/scene/mock_queue.h"
#include "exercises/scene/virtual_time.h"

typedef struct Task {
    MockTimes times; // picoseconds
    VirtualClock clock;
    int64_t launches, bytes_in, bytes_out;
} Task;

static const int64_t microsecond = 1000000, millisecond = 1000000000; // picoseconds
static const int64_t megabyte = 1000000;

static double seconds(int64_t picoseconds) {
    return (double)picoseconds / (double)PICOSECONDS_PER_SECOND;
}

static Task draw_task(Draw *draw, bool fixed) {
    Task task = {.times = {.launch = 4500000,
                           .record = microsecond / 5,
                           .wake_up = 100 * microsecond,
                           .load = 30 * millisecond,
                           .copy_latency = 10 * microsecond,
                           .copy_ps_per_kilobyte = 40000,
                           .copy_out_ps_per_kilobyte = 80000,
                           .kernel = 180 * microsecond},
                 .clock = {.resolution_ns = 1, .reading_ps = 20000},
                 .launches = 6,
                 .bytes_in = 300 * megabyte,
                 .bytes_out = 50 * megabyte};
    if (fixed) return task;
    task.times.launch = draw_between(draw, 30, 60) * microsecond / 10;
    task.times.wake_up = draw_between(draw, 60, 120) * microsecond;
    task.times.load = draw_between(draw, 20, 40) * millisecond;
    task.times.copy_ps_per_kilobyte = draw_between(draw, 35, 45) * 1000;
    task.times.copy_out_ps_per_kilobyte = draw_between(draw, 70, 90) * 1000;
    task.times.kernel = draw_between(draw, 100, 250) * microsecond;
    task.launches = draw_between(draw, 4, 8);
    task.bytes_in = draw_between(draw, 200, 400) * megabyte;
    task.bytes_out = draw_between(draw, 30, 80) * megabyte;
    return task;
}

// ---- what each value may be instead ------------------------------------------------------------
static void expect_kernel(CaseRun *run, const Task *task) {
    int64_t n = task->launches, all = n * task->times.kernel;
    const MockTimes *times = &task->times;
    double in = seconds(mock_copy_ps(times, task->bytes_in));
    double out = seconds(mock_copy_out_ps(times, task->bytes_out));
    double of_n = 1.0 / (double)n;
    run_expect_real(run, "kernel_seconds", seconds(task->times.kernel), 0.02);
    run_mistake_real(run, "no_synchronisation", seconds(times->launch));
    run_mistake_real(run, "launches_not_divided", seconds(all));
    run_mistake_real(run, "copies_included", (in + out + seconds(all)) * of_n);
    run_mistake_real(run, "copies_included", (in + seconds(all)) * of_n);
    run_mistake_real(run, "copies_included", (out + seconds(all)) * of_n);
    run_mistake_real(run, "first_launch_included", seconds(all + times->load) * of_n);
    run_mistake_real(run, "waiting_each_launch",
                     seconds(task->times.kernel + times->launch + times->wake_up));
    run_mistake_real(run, "host_clock_for_kernel",
                     seconds(all + times->launch + times->wake_up) * of_n);
    run_mistake_real(run, "milliseconds_for_seconds", 1e3 * seconds(task->times.kernel));
    run_mistake_status(run, "events_read_early", STATUS_STATE);
    run_expect_recorded(run, "the warm-up was awaited", RECORDED_WARM_UP_AWAITED, 1);
    run_mistake_integer(run, "first_launch_included", 0);
}

static void expect_copy(CaseRun *run, const Task *task) {
    const MockTimes *times = &task->times;
    double in = seconds(mock_copy_ps(times, task->bytes_in));
    double out = seconds(mock_copy_out_ps(times, task->bytes_out));
    double in_out = seconds(mock_copy_out_ps(times, task->bytes_in));
    double out_in = seconds(mock_copy_ps(times, task->bytes_out)),
           wake_up = seconds(times->wake_up);
    run_expect_real(run, "copy_seconds", in + out, 0.02);
    run_mistake_real(run, "copy_one_way", in);
    run_mistake_real(run, "copy_one_way", out);
    run_mistake_real(run, "copies_swapped", in_out + out_in);
    run_mistake_real(run, "copies_swapped", in + in_out);
    run_mistake_real(run, "copies_swapped", out + out_in);
    run_mistake_real(run, "copy_waited_for", in + out + wake_up);
    run_mistake_real(run, "copy_waited_for", in + out + 2.0 * wake_up);
    run_mistake_real(run, "copy_not_awaited", seconds(2 * times->launch));
    run_mistake_real(run, "kernels_included", in + out + seconds(task->launches * times->kernel));
    run_mistake_real(run, "milliseconds_for_seconds", 1e3 * (in + out));
    run_mistake_status(run, "events_read_early", STATUS_STATE);
    static const char *const orders[] = {"nothing",
                                         "copy in, launches, copy out",
                                         "these, in another order",
                                         "only a part of these",
                                         "more than these",
                                         NULL}; // indexed by MockOrder
    run_expect_recorded(run, "in the queue before the wait", RECORDED_QUEUE_ORDER,
                        MOCK_ORDER_RIGHT);
    run_recorded_words(run, orders);
    run_mistake_integer(run, "queue_out_of_order", MOCK_ORDER_OTHER);
    run_mistake_integer(run, "copy_waited_for", MOCK_ORDER_PART);
}

static void expect_launch(CaseRun *run, const Task *task) {
    int64_t n = task->launches, all = n * task->times.kernel;
    const MockTimes *times = &task->times;
    int64_t in = mock_copy_ps(times, task->bytes_in);
    double of_n = 1.0 / (double)n;
    run_expect_real(run, "launch_seconds", seconds(times->launch), 0.02);
    run_mistake_real(run, "launches_not_divided", seconds(n * times->launch));
    run_mistake_real(run, "launch_includes_wait", seconds(in + all + times->wake_up) * of_n);
    run_mistake_real(run, "launch_includes_wait",
                     seconds(all + times->launch + times->wake_up) * of_n);
    run_mistake_real(run, "launch_includes_wait",
                     seconds(task->times.kernel + times->launch + times->wake_up));
    run_mistake_real(run, "kernel_for_launch", seconds(task->times.kernel));
    run_mistake_real(run, "milliseconds_for_seconds", 1e3 * seconds(times->launch));
    for (int sets = 1; sets <= 2; sets++)
        run_mistake_real(run, "wall_clock",
                         seconds(times->launch) +
                             1e-9 * (double)(sets * task->clock.set_by_ns) * of_n);
    run_mistake_real(run, "cpu_clock",
                     0.01 * seconds(times->launch * (100 - times->launch_asleep)));
    for (int whole = 0; whole <= 2; whole++) {
        run_mistake_real(run, "seconds_only", whole * of_n);
        run_mistake_real(run, "nanoseconds_only", seconds(times->launch) - whole * of_n);
    }
    run_mistake_status(run, "events_read_early", STATUS_STATE);
}

// Expects that all events are freed once.
static void expect_events(CaseRun *run) {
    run_expect_recorded(run, "events not freed", RECORDED_EVENTS_LEFT, 0);
    for (int events = 1; events <= 16; events++)
        run_mistake_integer(run, "events_not_freed", events);
    run_expect_recorded(run, "events freed twice", RECORDED_EVENT_MISUSES, 0);
    for (int events = 1; events <= 16; events++)
        run_mistake_integer(run, "event_freed_twice", events);
}

static Status expect(CaseRun *run, const Task *task, int64_t ask, const char *formula) {
    run->scene[0] = '\0'; // left by an earlier, unsuitable task
    snprintf(run->input, sizeof run->input, "ask=%lld launches=%lld bytes_in=%lld bytes_out=%lld",
             (long long)ask, (long long)task->launches, (long long)task->bytes_in,
             (long long)task->bytes_out);
    mock_times_write(&task->times, run->scene, sizeof run->scene);
    virtual_clock_write(&task->clock, run->scene, sizeof run->scene);
    snprintf(
        run->shown, CASE_LINE,
        "%lld launches of %lld us, %.1f us per call; %.10g MB in at %.1f GB/s, %.10g out at %.1f",
        (long long)task->launches, (long long)(task->times.kernel / microsecond),
        (double)task->times.launch / 1e6, 1e-6 * (double)task->bytes_in,
        1e6 / (double)task->times.copy_ps_per_kilobyte, 1e-6 * (double)task->bytes_out,
        1e6 / (double)task->times.copy_out_ps_per_kilobyte);
    snprintf(run->asked, CASE_LINE, "seconds, to within 2 %%");
    snprintf(run->formula, CASE_LINE, "%s", formula);
    if (ask & DEVICE_ASK_KERNEL) expect_kernel(run, task);
    if (ask & DEVICE_ASK_COPY) expect_copy(run, task);
    if (ask & DEVICE_ASK_LAUNCH) expect_launch(run, task);
    return STATUS_OK;
}

// ---- cases -------------------------------------------------------------------------------------
static Status kernel_alone(Draw *draw, CaseRun *run) {
    Task task = draw_task(draw, draw->run == 0);
    if (draw->run == 1) task.launches = 1;
    if (draw->run == 1) task.times.kernel *= 30; // where kernels come first, a launch precedes them
    if (draw->run == 2) task.launches = 300;
    if (draw->run == 3) task.bytes_in = task.bytes_out = 0; // no copy is a copy of nothing
    return expect(run, &task, DEVICE_ASK_KERNEL, "elapsed(event 1, event 2) / launches");
}

// The second task is small, and the program wakes up slowly, so that waiting for a copy shows.
static Status copies_apart(Draw *draw, CaseRun *run) {
    Task task = draw_task(draw, draw->run < 2);
    if (draw->run == 1) {
        task.times.launch = microsecond / 2;
        task.times.wake_up = 2 * millisecond;
        task.bytes_in = 25 * megabyte;
        task.bytes_out = 6 * megabyte;
    }
    return expect(run, &task, DEVICE_ASK_COPY,
                  "elapsed(event 0, event 1) + elapsed(event 2, event 3)");
}

// Successive launches take unequal times, and recording an event takes time, too, so the clock must
// be read right before the first launch and right after the last.
static Status launch_cost(Draw *draw, CaseRun *run) {
    Task task = draw_task(draw, draw->run == 0);
    task.launches += task.launches % 2; // an equal number of longer and shorter launches
    task.times.launch_uneven = task.times.launch / 4;
    task.times.record = task.times.launch / 2;
    return expect(run, &task, DEVICE_ASK_LAUNCH, "clock around the launches alone / launches");
}

// A driver so slow that seconds pass, and that waits. The wall clock is set repeatedly, so that it
// is set during the launches however long the warm-up was.
static Status slow_driver(Draw *draw, CaseRun *run) {
    Task task = draw_task(draw, true);
    task.times.launch = 430 * millisecond; // not a whole second even with a copy or two
    task.times.launch_asleep = 50;
    task.times.kernel = 900 * millisecond;
    task.launches = 4;
    task.clock.monotonic_ns = draw_between(draw, 1, 90000) * 1000000000 + 550000000;
    task.clock.realtime_ns = draw_between(draw, 1700000000, 1900000000) * 1000000000;
    task.clock.set_after_ns = draw->run == 0 ? 2300000000 : 3200000000;
    task.clock.set_by_ns = -700000000;
    task.clock.set_every_ns = 1500000000; // less than four launches, more than two
    return expect(run, &task, DEVICE_ASK_LAUNCH, "clock around the launches alone / launches");
}

static Status errors(Draw *draw, CaseRun *run) {
    // Measured launches follow the copy, however many launches the warm-up has.
    const struct {
        int64_t fails, fails_behind, launches;
        const char *where;
    } asked[] = {{1, 0, 6, "the warm-up"},
                 {0, 2, 6, "the second of them"},
                 {0, 6, 6, "the last of them"},
                 {0, 0, 0, NULL},
                 {0, 0, -1, NULL},
                 {0, 0, INT64_MIN, NULL}};
    Task task = draw_task(draw, true);
    const char *where = asked[draw->run].where;
    task.times.fails = asked[draw->run].fails;
    task.times.fails_behind = asked[draw->run].fails_behind;
    task.launches = asked[draw->run].launches;
    Status status = expect(run, &task, 0, "the first status that is not STATUS_OK");
    snprintf(run->asked, CASE_LINE, "the status, and what is left behind");
    if (where) {
        run->status = STATUS_DEVICE;
        snprintf(run->shown, CASE_LINE, "%lld launches; the kernel fails in %s",
                 (long long)task.launches, where);
        run_mistake_status(run, "device_error_ignored", STATUS_OK);
        run_mistake_status(run, "device_error_ignored", STATUS_STATE);
    } else {
        run->status = STATUS_INVALID_ARGUMENT;
        snprintf(run->shown, CASE_LINE, "launches = %lld", (long long)task.launches);
        run_mistake_status(run, "bad_options_accepted", STATUS_OK);
        run_expect_recorded(run, "launches", RECORDED_LAUNCHES, 0);
        run_mistake_integer(run, "bad_options_accepted", 1);
    }
    expect_events(run);
    return status;
}

static Status events_given_back(Draw *draw, CaseRun *run) {
    Task task = draw_task(draw, draw->run == 0);
    Status status =
        expect(run, &task, DEVICE_ASK_NO_EVENT,
               "each event is freed once, on every way out; none: STATUS_OUT_OF_MEMORY");
    snprintf(run->asked, CASE_LINE, "what becomes of the events, also where one is NULL");
    expect_events(run);
    run_expect_integer(run, "NULL not told as OUT_OF_MEMORY", 0);
    run_mistake_integer(run, "null_unchecked", 1);
    return status;
}

// Names indexed by RemoteDeviceCall.
static const char *const calls[] = {"none",
                                    "mock_launch",
                                    "mock_copy_to_device",
                                    "mock_copy_to_host",
                                    "mock_synchronize",
                                    "mock_event_record",
                                    "mock_event_elapsed",
                                    NULL};

static Status refused_calls(Draw *draw, CaseRun *run) {
    Task task = draw_task(draw, draw->run == 0);
    Status status =
        expect(run, &task, DEVICE_ASK_REFUSED,
               "whatever a mock_ function returned, as it is; and the events are freed");
    snprintf(run->asked, CASE_LINE, "a call whose status is lost, where it returns STATUS_IO");
    run_expect_word(run, "lost status of", 0, calls);
    for (int call = 1; calls[call]; call++) run_mistake_integer(run, "status_lost", call);
    expect_events(run);
    return status;
}

static const ExerciseCase cases[] = {
    {.name = "kernel_alone", .points = 2, .runs = 4, .clauses = "1 2 5 8", .make = kernel_alone},
    {.name = "launch_cost", .points = 1, .runs = 2, .clauses = "3 4", .make = launch_cost},
    {.name = "copies_apart", .points = 1, .runs = 3, .clauses = "4 7", .make = copies_apart},
    {.name = "slow_driver",
     .points = 1,
     .runs = 2,
     .hidden = true,
     .clauses = "3",
     .make = slow_driver},
    {.name = "errors",
     .points = 1,
     .runs = 6,
     .clauses = "1 6 9",
     .needs = "kernel_alone",
     .make = errors},
    {.name = "events_given_back",
     .points = 1,
     .runs = 2,
     .clauses = "9 10",
     .needs = "kernel_alone",
     .make = events_given_back},
    {.name = "refused_calls",
     .points = 1,
     .runs = 2,
     .hidden = true,
     .clauses = "9 11",
     .needs = "kernel_alone",
     .make = refused_calls},
};

const Exercise exercise_07 = {.number = "07",
                              .name = "time_device",
                              .function = "time_device",
                              .title = "Time a device that works for itself",
                              .minutes = 40,
                              .points = 8,
                              .cases = cases,
                              .n_cases = sizeof cases / sizeof cases[0]};
