// ex05_clock_cases.c -- exercise 05 in the grader. The truth is the work's own schedule; each wrong
// value is what a measurement with that mistake reads from the same virtual clock.
#include <stdio.h>

#include "exercises/grader/exercise.h"
#include "exercises/support/virtual_work.h"

typedef enum Fields { SECONDS = 1, NANOSECONDS = 2, BOTH = 3 } Fields;

typedef struct WrongClock { // a mistake: which clock, what of its readings, how fine it is thought
    const char *name;
    clockid_t id;
    Fields fields;
    double enough; // seconds that have to pass; -1: 100 steps of the clock, as is right
    double factor; // on the result
    bool whole;    // of all runs: not divided by their number
} WrongClock;

static const WrongClock wrong_clocks[] = {
    {"wall_clock", CLOCK_REALTIME, BOTH, -1.0, 1.0, false},
    {"cpu_clock", CLOCK_PROCESS_CPUTIME_ID, BOTH, -1.0, 1.0, false},
    {"seconds_only", CLOCK_MONOTONIC, SECONDS, -1.0, 1.0, false},
    {"nanoseconds_only", CLOCK_MONOTONIC, NANOSECONDS, -1.0, 1.0, false},
    {"milliseconds_for_seconds", CLOCK_MONOTONIC, BOTH, -1.0, 1e3, false},
    {"microseconds_for_seconds", CLOCK_MONOTONIC, BOTH, -1.0, 1e6, false},
    {"nanoseconds_for_seconds", CLOCK_MONOTONIC, BOTH, -1.0, 1e9, false},
    {"resolution_ignored", CLOCK_MONOTONIC, BOTH, 0.0, 1.0, false},
    {"resolution_assumed", CLOCK_MONOTONIC, BOTH, 100e-9, 1.0, false},
    {"repeats_not_divided", CLOCK_MONOTONIC, BOTH, -1.0, 1.0, true},
};

static double part(Fields fields, struct timespec start, struct timespec end) {
    double seconds = fields & SECONDS ? (double)(end.tv_sec - start.tv_sec) : 0.0;
    double rest = fields & NANOSECONDS ? (double)(end.tv_nsec - start.tv_nsec) * 1e-9 : 0.0;
    return seconds + rest;
}

static double measure_wrongly(const WrongClock *wrong, VirtualClock clock, VirtualWork work) {
    double enough = wrong->enough < 0.0 ? 100e-9 * (double)clock.resolution_ns : wrong->enough;
    double elapsed = 0.0;
    int64_t runs = 1, asleep = work.base_ps / 100 * work.asleep_percent;
    virtual_clock_start(clock);
    for (;; runs *= 2) {
        struct timespec start, end;
        lab_clock_gettime(wrong->id, &start);
        virtual_clock_wait(runs * asleep);
        virtual_clock_work(runs * (work.base_ps - asleep));
        lab_clock_gettime(wrong->id, &end);
        elapsed = part(wrong->fields, start, end);
        if (elapsed >= enough || runs >= 1 << 24) break;
    }
    return elapsed * wrong->factor / (wrong->whole ? 1.0 : (double)runs);
}

static Status expect(CaseRun *run, const VirtualClock *clock, const VirtualWork *work) {
    double seconds = (double)work->base_ps / (double)PICOSECONDS_PER_SECOND;
    virtual_clock_write(clock, run->input, sizeof run->input);
    virtual_work_write(work, run->input, sizeof run->input);
    snprintf(run->asked, CASE_LINE, "seconds of ONE run");
    snprintf(run->formula, CASE_LINE, "(end - start) of CLOCK_MONOTONIC / runs");
    run_expect_real(run, "", seconds, clock->resolution_ns > 1 ? 0.0101 : 1e-6);
    for (size_t i = 0; i < sizeof wrong_clocks / sizeof wrong_clocks[0]; i++)
        run_mistake_real(run, wrong_clocks[i].name,
                         measure_wrongly(&wrong_clocks[i], *clock, *work));
    return STATUS_OK;
}

static VirtualClock draw_clock(Draw *draw, int64_t fraction_ns) {
    VirtualClock clock = {.resolution_ns = 1, .reading_ps = 25 * PICOSECONDS_PER_NANOSECOND};
    clock.monotonic_ns = draw_between(draw, 1000, 90000) * 1000000000 + fraction_ns;
    clock.realtime_ns = draw_between(draw, 1700000000, 1900000000) * 1000000000;
    clock.realtime_ns += draw_between(draw, 0, 999999999);
    return clock;
}

static Status seconds_and_nanoseconds(Draw *draw, CaseRun *run) {
    VirtualClock clock = draw_clock(draw, draw_between(draw, 50, 250) * 1000000);
    int64_t ms = 1000 * draw_between(draw, 2, 6) + draw_between(draw, 300, 600);
    VirtualWork work = {.base_ps = ms * 1000000000};
    snprintf(run->shown, CASE_LINE, "a clock in steps of 1 ns   work of %.3f s", (double)ms / 1e3);
    return expect(run, &clock, &work);
}

static Status nanoseconds_wrap(Draw *draw, CaseRun *run) {
    VirtualClock clock = draw_clock(draw, draw_between(draw, 700, 950) * 1000000);
    int64_t us = draw_between(draw, 350000, 600000);
    VirtualWork work = {.base_ps = us * 1000000};
    snprintf(run->shown, CASE_LINE, "work of %.6f s, begun at %lld.%09lld s", (double)us / 1e6,
             (long long)(clock.monotonic_ns / 1000000000),
             (long long)(clock.monotonic_ns % 1000000000));
    return expect(run, &clock, &work);
}

static Status waiting_and_clock_set(Draw *draw, CaseRun *run) {
    VirtualClock clock = draw_clock(draw, draw_between(draw, 0, 999999999));
    int64_t ms = draw_between(draw, 3000, 6000);
    VirtualWork work = {.base_ps = ms * 1000000000, .asleep_percent = draw_between(draw, 40, 70)};
    clock.set_after_ns = ms * 500000;
    clock.set_by_ns = -ms * draw_between(draw, 200000, 300000);
    snprintf(
        run->shown, CASE_LINE,
        "work of %.3f s, %lld %% of it waiting; the wall clock is set back by %.3f s meanwhile",
        (double)ms / 1e3, (long long)work.asleep_percent, -(double)clock.set_by_ns / 1e9);
    return expect(run, &clock, &work);
}

// Steps are aligned with the start and longer than a run, so that one run never meets a step. Drawn
// anew while a mistake is right by luck: 1 ms in 32 runs, and the work took 31 us.
static Status shorter_than_a_step(Draw *draw, CaseRun *run) {
    enum { TELLING = 7 }; // mistakes that show here
    Status status = STATUS_OK;
    run->n_mistakes = 0;
    for (int tries = 0; tries < 100 && !status && run->n_mistakes < TELLING; tries++) {
        VirtualClock clock = draw_clock(draw, 0);
        bool coarse = draw->run == 0;
        clock.resolution_ns = coarse ? 1000000 : 1000;
        int64_t ns = coarse ? draw_between(draw, 20000, 90000) : draw_between(draw, 200, 900);
        VirtualWork work = {.base_ps = ns * PICOSECONDS_PER_NANOSECOND};
        snprintf(run->shown, CASE_LINE, "a clock in steps of %lld us   work of %lld ns",
                 (long long)clock.resolution_ns / 1000, (long long)ns);
        run->n_values = run->n_mistakes = 0;
        run->input[0] = '\0';
        status = expect(run, &clock, &work);
    }
    return status;
}

static const ExerciseCase cases[] = {
    {.name = "seconds_and_nanoseconds", .points = 1, .runs = 1, .make = seconds_and_nanoseconds},
    {.name = "nanoseconds_wrap", .points = 1, .runs = 3, .make = nanoseconds_wrap},
    {.name = "waiting_and_clock_set", .points = 1, .runs = 1, .make = waiting_and_clock_set},
    {.name = "shorter_than_a_step", .points = 1, .runs = 2, .make = shorter_than_a_step},
};

// The wrong clocks too: whoever uses one is to be told why it is wrong.
static const char *const symbols[] = {
    "clock_gettime", "clock_getres", "timespec_get", "time", "gettimeofday", "clock", NULL};

const Exercise exercise_05 = {.number = "05",
                              .name = "clock",
                              .function = "clock_elapsed",
                              .title = "How long did it take?",
                              .minutes = 20,
                              .points = 4,
                              .symbols = symbols,
                              .cases = cases,
                              .n_cases = sizeof cases / sizeof cases[0]};
