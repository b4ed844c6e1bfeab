// ex07_time_device_cases.c -- exercise 07 in the grader. The truth is what the mock device was told
// to take; a wrong value is what a stopwatch held elsewhere shows, by the device's own rules.
#include <stdio.h>

#include "exercises/course/ex07_values.h"
#include "exercises/grader/exercise.h"
#include "exercises/support/mock_device_setup.h"
#include "exercises/support/virtual_work.h"

typedef struct Task { // picoseconds
    MockDeviceTimes times;
    int64_t kernel, launches, bytes_in, bytes_out;
    bool fails;
} Task;

static double seconds(int64_t picoseconds) {
    return (double)picoseconds / (double)PICOSECONDS_PER_SECOND;
}

static Task draw_task(Draw *draw) {
    int64_t us = 1000000;
    return (Task){.times = {.launch = draw_between(draw, 30, 60) * us / 10,
                            .record = us / 5,
                            .wake_up = draw_between(draw, 60, 120) * us,
                            .load = draw_between(draw, 20, 40) * 1000 * us,
                            .copy_latency = 10 * us,
                            .copy_ps_per_kilobyte = draw_between(draw, 35, 45) * 1000},
                  .kernel = draw_between(draw, 100, 250) * us,
                  .launches = draw_between(draw, 4, 8),
                  .bytes_in = draw_between(draw, 200, 400) * 1000000,
                  .bytes_out = draw_between(draw, 30, 80) * 1000000};
}

static void expect_kernel(CaseRun *run, const Task *task) {
    int64_t n = task->launches, all = n * task->kernel;
    const MockDeviceTimes *times = &task->times;
    double in = seconds(mock_copy_ps(times, task->bytes_in));
    double out = seconds(mock_copy_ps(times, task->bytes_out));
    double of_n = 1.0 / (double)n;
    run_expect_real(run, "kernel_seconds", seconds(task->kernel), 0.02);
    run_mistake_real(run, "no_synchronisation", seconds(times->launch));
    run_mistake_real(run, "launches_not_divided", seconds(all));
    run_mistake_real(run, "copies_included", (in + out + seconds(all)) * of_n);
    run_mistake_real(run, "copies_included", (in + seconds(all)) * of_n);
    run_mistake_real(run, "copies_included", (out + seconds(all)) * of_n);
    run_mistake_real(run, "first_launch_included", seconds(all + times->load) * of_n);
    run_mistake_real(run, "waiting_each_launch",
                     seconds(task->kernel + times->launch + times->wake_up));
    run_mistake_real(run, "host_clock_for_kernel",
                     seconds(all + times->launch + times->wake_up) * of_n);
    run_mistake_real(run, "milliseconds_for_seconds", 1e3 * seconds(task->kernel));
    run_mistake_status(run, "events_read_early", STATUS_STATE);
}

static void expect_copy(CaseRun *run, const Task *task) {
    double in = seconds(mock_copy_ps(&task->times, task->bytes_in));
    double out = seconds(mock_copy_ps(&task->times, task->bytes_out));
    run_expect_real(run, "copy_seconds", in + out, 0.02);
    run_mistake_real(run, "copy_one_way", in);
    run_mistake_real(run, "copy_one_way", out);
    run_mistake_real(run, "copy_not_awaited", seconds(2 * task->times.launch));
    run_mistake_real(run, "kernels_included", in + out + seconds(task->launches * task->kernel));
    run_mistake_real(run, "milliseconds_for_seconds", 1e3 * (in + out));
    run_mistake_status(run, "events_read_early", STATUS_STATE);
}

static void expect_launch(CaseRun *run, const Task *task) {
    int64_t n = task->launches, all = n * task->kernel;
    const MockDeviceTimes *times = &task->times;
    int64_t in = mock_copy_ps(times, task->bytes_in);
    double of_n = 1.0 / (double)n;
    run_expect_real(run, "launch_seconds", seconds(times->launch), 0.02);
    run_mistake_real(run, "launches_not_divided", seconds(n * times->launch));
    run_mistake_real(run, "launch_includes_wait", seconds(in + all + times->wake_up) * of_n);
    run_mistake_real(run, "launch_includes_wait",
                     seconds(all + times->launch + times->wake_up) * of_n);
    run_mistake_real(run, "launch_includes_wait",
                     seconds(task->kernel + times->launch + times->wake_up));
    run_mistake_real(run, "kernel_for_launch", seconds(task->kernel));
    run_mistake_real(run, "milliseconds_for_seconds", 1e3 * seconds(times->launch));
    run_mistake_status(run, "events_read_early", STATUS_STATE);
}

static Status expect(CaseRun *run, const Task *task, int ask, const char *formula) {
    snprintf(run->input, sizeof run->input,
             "ask=%d kernel=%lld launches=%lld bytes_in=%lld bytes_out=%lld fails=%d", ask,
             (long long)task->kernel, (long long)task->launches, (long long)task->bytes_in,
             (long long)task->bytes_out, task->fails);
    mock_device_times_write(&task->times, run->input, sizeof run->input);
    virtual_clock_write(&(VirtualClock){.resolution_ns = 1, .reading_ps = 20000}, run->input,
                        sizeof run->input);
    snprintf(run->shown, CASE_LINE,
             "%lld launches of %lld us, %.1f us per call; %lld MB in, %lld MB out at %.1f GB/s",
             (long long)task->launches, (long long)(task->kernel / 1000000),
             (double)task->times.launch / 1e6, (long long)(task->bytes_in / 1000000),
             (long long)(task->bytes_out / 1000000),
             1e6 / (double)task->times.copy_ps_per_kilobyte);
    snprintf(run->asked, CASE_LINE, "seconds, to within 2 %%");
    snprintf(run->formula, CASE_LINE, "%s", formula);
    if (ask & ASK_KERNEL) expect_kernel(run, task);
    if (ask & ASK_COPY) expect_copy(run, task);
    if (ask & ASK_LAUNCH) expect_launch(run, task);
    return STATUS_OK;
}

// A task in which no two mistakes lead to the same value, by luck, within the tolerance: one that
// is the same as another is left out of the run, and missed.
static Status expect_apart(CaseRun *run, Draw *draw, int ask, int n_mistakes, const char *formula) {
    Status status = STATUS_OK;
    run->n_mistakes = 0;
    for (int tries = 0; tries < 100 && !status && run->n_mistakes < n_mistakes; tries++) {
        Task task = draw_task(draw);
        run->n_values = run->n_mistakes = 0;
        status = expect(run, &task, ask, formula);
    }
    return status;
}

static Status kernel_alone(Draw *draw, CaseRun *run) {
    return expect_apart(run, draw, ASK_KERNEL, 10, "elapsed(event 1, event 2) / launches");
}

static Status copies_apart(Draw *draw, CaseRun *run) {
    return expect_apart(run, draw, ASK_COPY, 6,
                        "elapsed(event 0, event 1) + elapsed(event 2, event 3)");
}

static Status launch_cost(Draw *draw, CaseRun *run) {
    return expect_apart(run, draw, ASK_LAUNCH, 7, "clock around the launches alone / launches");
}

static Status errors(Draw *draw, CaseRun *run) {
    Task task = draw_task(draw);
    task.fails = draw->run == 0;
    if (!task.fails) task.launches = -draw_between(draw, 0, 1);
    Status status = expect(run, &task, 0, "the first status that is not STATUS_OK");
    run->status = task.fails ? STATUS_DEVICE : STATUS_INVALID_ARGUMENT;
    snprintf(run->asked, CASE_LINE, "the status");
    if (task.fails)
        snprintf(run->shown, CASE_LINE, "a kernel that fails on the device");
    else
        snprintf(run->shown, CASE_LINE, "launches = %lld", (long long)task.launches);
    run_mistake_status(run, task.fails ? "device_error_ignored" : "bad_options_accepted",
                       STATUS_OK);
    return status;
}

static Status events_given_back(Draw *draw, CaseRun *run) {
    Task task = draw_task(draw);
    Status status = expect(run, &task, ASK_EVENTS, "as many mock_event_free as mock_event_new");
    snprintf(run->asked, CASE_LINE, "events that are still there afterwards");
    run_expect_integer(run, "events", 0);
    for (int left = 1; left <= 8; left++) run_mistake_integer(run, "events_not_freed", left);
    return status;
}

static const ExerciseCase cases[] = {
    {.name = "kernel_alone", .points = 3, .runs = 3, .make = kernel_alone},
    {.name = "copies_apart", .points = 2, .runs = 2, .make = copies_apart},
    {.name = "launch_cost", .points = 1, .runs = 2, .make = launch_cost},
    {.name = "errors", .points = 1, .runs = 2, .needs = "kernel_alone", .make = errors},
    {.name = "events_given_back",
     .points = 1,
     .runs = 1,
     .needs = "kernel_alone",
     .make = events_given_back},
};

static const char *const symbols[] = {"clock_gettime", "clock_getres", "timespec_get", "mock_*",
                                      "malloc",        "calloc",       "free",         NULL};

const Exercise exercise_07 = {.number = "07",
                              .name = "time_device",
                              .function = "time_device",
                              .title = "Time a device that works for itself",
                              .minutes = 40,
                              .points = 8,
                              .symbols = symbols,
                              .cases = cases,
                              .n_cases = sizeof cases / sizeof cases[0]};
