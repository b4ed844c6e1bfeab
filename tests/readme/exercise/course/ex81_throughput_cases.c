// ex81_throughput_cases.c -- exercise 81 in the grader, on its own clock.
#include <stdio.h>

#include "exercises/course/exercise.h"

// A run takes `us` microseconds, 30 % of them asleep; the first takes 9 times `us` more, the next a
// quarter of that, and so on: 12 in all, of which 3 come after the first. The scene says so to the
// grader; the worker is told the number of runs, and has no clock.
static Status measured(Draw *draw, CaseRun *run) {
    int64_t us = draw_between(draw, 300, 900), runs = draw_between(draw, 20, 40);
    double warm = 1e6 / (double)us, per_second = warm * (double)runs / (double)(runs + 3);
    snprintf(run->input, sizeof run->input, "runs=%d", (int)runs);
    snprintf(run->scene, sizeof run->scene,
             "resolution=1 reading=20000 base=%lld asleep=30 cold=%lld", (long long)us * 1000000,
             (long long)us * 9000000);
    snprintf(run->shown, CASE_LINE, "%d runs of %d us, the first takes ten times as long",
             (int)runs, (int)us);
    snprintf(run->formula, CASE_LINE, "runs / seconds of these runs");
    run_expect_real(run, "per_second", per_second, 0.01);
    run_mistake_real(run, "throughput_inverted", 1.0 / per_second);
    run_mistake_real(run, "cpu_clock", per_second / 0.7);
    run_mistake_real(run, "warmup_missing", warm * (double)runs / (double)(runs + 12));
    run_expect_recorded(run, "runs of the work", RECORDED_WORKS, runs + 1);
    run_mistake_integer(run, "warmup_missing", runs);
    run_expect_recorded(run, "readings of the clock", RECORDED_READINGS, 2);
    run_mistake_integer(run, "clock_read_for_each_run", runs + 1);
    return STATUS_OK;
}

static Status refused(Draw *draw, CaseRun *run) {
    int64_t runs = draw->run == 0 ? 0 : -draw_between(draw, 1, 9);
    snprintf(run->input, sizeof run->input, "runs=%d", (int)runs);
    snprintf(run->scene, sizeof run->scene, "resolution=1 base=1000000");
    snprintf(run->shown, CASE_LINE, "runs = %d", (int)runs);
    run->status = STATUS_INVALID_ARGUMENT;
    run_mistake_status(run, "bad_options_accepted", STATUS_OK);
    return STATUS_OK;
}

static const ExerciseCase cases[] = {
    {.name = "measured", .points = 2, .runs = 3, .clauses = "1 2 3", .make = measured},
    {.name = "refused",
     .points = 1,
     .runs = 2,
     .clauses = "4",
     .hidden = true,
     .needs = "measured",
     .make = refused},
};

const Exercise exercise_81 = {.number = "81",
                              .name = "throughput",
                              .function = "throughput",
                              .title = "Runs in a second",
                              .minutes = 15,
                              .points = 3,
                              .stretch = true,
                              .cases = cases,
                              .n_cases = 2};
