// ex05_clock_cases.c -- exercise 05 in the grader. The right time comes from the work's own
// schedule; a wrong time is measured with the mistake on the same virtual clock.
#include <stdio.h>

#include "exercises/course/exercise.h"
#include "exercises/course/wrong_clock.h"
#include "exercises/scene/virtual_time.h"

static const int64_t second = 1000000000, millisecond = 1000000, microsecond = 1000; // nanoseconds

typedef enum Slip { // mistakes in repeating the measurement
    NO_SLIP,
    STEP_IGNORED, // only one try
    STEP_ASSUMED, // a step of 1 ns
    NOT_DIVIDED,
    DIVIDED_BY_NEXT, // divided by the runs of the next try
    TRIES_ADDED,     // added the times of all tries
    TRIES_AVERAGED,  // added the times and the runs of all tries
} Slip;

typedef struct Plan { // a way to repeat the measurement
    const char *name; // name of the mistake
    Slip slip;
    int64_t first, factor; // runs of the first try; factor from each try to the next
} Plan;

typedef struct Setting {
    VirtualClock clock;
    VirtualWork work;
} Setting;

typedef struct Outcome {
    double seconds;
    int64_t runs; // runs of the last try
} Outcome;

static Outcome tries(const Setting *setting, const WrongClock *wrong, const Plan *plan) {
    const VirtualWork *work = &setting->work;
    double enough = 100e-9 * (double)setting->clock.resolution_ns, elapsed = 0.0;
    int64_t runs = plan->first, all = 0, asleep = work->base_ps / 100 * work->asleep_percent;
    const int64_t most = INT64_MAX / 2 / work->base_ps; // time ends
    if (runs > most) runs = most;
    if (plan->slip == STEP_IGNORED) enough = 0.0;
    if (plan->slip == STEP_ASSUMED) enough = 100e-9;
    VirtualTime time = virtual_time_start(setting->clock);
    for (;; runs *= plan->factor) {
        struct timespec start, end;
        virtual_time_read(&time, wrong->id, &start);
        virtual_time_wait(&time, runs * asleep);
        virtual_time_work(&time, runs * (work->base_ps - asleep));
        virtual_time_read(&time, wrong->id, &end);
        double passed = wrong_clock_between(wrong, start, end);
        bool together = plan->slip == TRIES_ADDED || plan->slip == TRIES_AVERAGED;
        elapsed = together ? elapsed + passed : passed;
        all += runs;
        bool ended = (plan->slip == TRIES_AVERAGED ? passed : elapsed) >= enough;
        if (ended || runs >= 1 << 24 || runs > most / plan->factor) break;
    }
    int64_t by = plan->slip == NOT_DIVIDED       ? 1
                 : plan->slip == DIVIDED_BY_NEXT ? plan->factor * runs
                 : plan->slip == TRIES_AVERAGED  ? all
                                                 : runs;
    return (Outcome){elapsed / (double)by, runs};
}

static Status expect(CaseRun *run, Setting setting) {
    static const Plan plans[] = {
        {"resolution_ignored", STEP_IGNORED, 1, 2},
        {"resolution_assumed", STEP_ASSUMED, 1, 2},
        {"repeats_not_divided", NOT_DIVIDED, 1, 2},
        {"divided_by_next_runs", DIVIDED_BY_NEXT, 1, 2},
        {"tries_added_up", TRIES_ADDED, 1, 2},
        {"tries_added_up", TRIES_AVERAGED, 1, 2},
        {"runs_not_doubled", NO_SLIP, 1, 3},
        {"runs_not_doubled", NO_SLIP, 1, 4},
        {"runs_not_doubled", NO_SLIP, 1, 5},
        {"runs_not_doubled", NO_SLIP, 1, 10},
        {"runs_not_doubled", NO_SLIP, 2, 2},
        {"runs_not_doubled", NO_SLIP, 10, 2},
        {"runs_not_doubled", NO_SLIP, 100, 2},
        {"runs_not_doubled", NO_SLIP, 1000, 2},
        {"runs_not_doubled", STEP_IGNORED, 10, 2},
        {"runs_not_doubled", STEP_IGNORED, 100, 2},
        {"runs_not_doubled", STEP_IGNORED, 1000, 2},
        {"runs_not_doubled", STEP_IGNORED, 10000, 2},
        {"runs_not_doubled", STEP_IGNORED, 100000, 2},
        {"runs_not_doubled", STEP_IGNORED, 1000000, 2},
    };
    enum { PLANS = sizeof plans / sizeof plans[0] };
    static const WrongClock clock = {"", CLOCK_MONOTONIC, DIFFERENCE_RIGHT, 1.0};
    static const Plan plan = {"", NO_SLIP, 1, 2};
    virtual_clock_write(&setting.clock, run->scene, sizeof run->scene);
    virtual_work_write(&setting.work, run->scene, sizeof run->scene);
    snprintf(run->asked, CASE_LINE, "seconds of ONE run");
    snprintf(run->formula, CASE_LINE, "(end - start) of CLOCK_MONOTONIC / runs");
    run_expect_real(run, "", (double)setting.work.base_ps / (double)PICOSECONDS_PER_SECOND, 0.0102);
    for (int i = 0; i < WRONG_CLOCKS; i++)
        run_mistake_real(run, wrong_clocks[i].name,
                         tries(&setting, &wrong_clocks[i], &plan).seconds);
    for (int i = 0; i < PLANS; i++)
        run_mistake_real(run, plans[i].name, tries(&setting, &clock, &plans[i]).seconds);
    int64_t right = tries(&setting, &clock, &plan).runs;
    run_expect_recorded(run, "runs of the last try", RECORDED_RUNS_TIMED, right);
    for (int i = 0; i < PLANS; i++) // plans with right seconds, or that stop too soon
        if (plans[i].slip == NO_SLIP || plans[i].slip == STEP_IGNORED)
            run_mistake_integer(run, plans[i].name, tries(&setting, &clock, &plans[i]).runs);
    for (int64_t fewer = right / 2; fewer > 1; fewer /= 2)
        run_mistake_integer(run, "resolution_ignored", fewer);
    run_expect_integer(run, "calls without the argument", 0);
    run_mistake_integer(run, "argument_forgotten", 1);
    return STATUS_OK;
}

// A clock with steps of 1 ns that starts `fraction_ns` after a full second.
static VirtualClock draw_clock(Draw *draw, int64_t fraction_ns) {
    VirtualClock clock = {.resolution_ns = 1, .reading_ps = 25 * PICOSECONDS_PER_NANOSECOND};
    clock.monotonic_ns = draw_between(draw, 1000, 90000) * second + fraction_ns;
    clock.realtime_ns = draw_between(draw, 1700000000, 1900000000) * second;
    clock.realtime_ns += draw_between(draw, 0, 999999999);
    return clock;
}

// Work begins at 0.15 s of a second, then at 0.9 s: the nanoseconds wrap for any number of runs.
static Status two_readings(Draw *draw, CaseRun *run) {
    const int64_t begun[] = {150, 900, draw_between(draw, 700, 950), draw_between(draw, 50, 250)};
    const int64_t ms[] = {2400, 950, draw_between(draw, 350, 600), draw_between(draw, 2300, 6600)};
    Setting setting = {draw_clock(draw, begun[draw->run] * millisecond),
                       {.base_ps = ms[draw->run] * millisecond * PICOSECONDS_PER_NANOSECOND}};
    snprintf(run->shown, CASE_LINE,
             "a clock in steps of 1 ns   work of %.3f s, begun at %lld.%03d s",
             1e-3 * (double)ms[draw->run], (long long)(setting.clock.monotonic_ns / second),
             (int)begun[draw->run]);
    return expect(run, setting);
}

// True if a try nearly reaches 100 steps; then an extra run before the tries changes their number.
static bool is_close_call(const Setting *setting) {
    int64_t step = setting->clock.resolution_ns * PICOSECONDS_PER_NANOSECOND;
    int64_t runs = setting->work.base_ps;
    while (runs < 98 * step) runs *= 2;
    return runs < 102 * step;
}

// The steps are aligned with the start and longer than a run, so one run never sees a step. In the
// last run, 16 runs of 4.87 ms show 77 steps, which is wrong by more than 1 %; 32 runs are enough.
static Status shorter_than_a_step(Draw *draw, CaseRun *run) {
    Setting setting = {draw_clock(draw, 0), {.base_ps = 38300000}};
    setting.clock.resolution_ns = draw->run % 3 == 0 ? millisecond : microsecond;
    setting.clock.reading_ps = 0;
    if (draw->run == 3) setting.work.base_ps = 4870 * microsecond * PICOSECONDS_PER_NANOSECOND;
    while (draw->run == 1 || draw->run == 2) {
        setting.work.base_ps = draw_between(draw, 200, 900) * PICOSECONDS_PER_NANOSECOND;
        if (!is_close_call(&setting)) break;
    }
    snprintf(run->shown, CASE_LINE, "a clock in steps of %lld us   work of %lld ns",
             (long long)(setting.clock.resolution_ns / microsecond),
             (long long)(setting.work.base_ps / PICOSECONDS_PER_NANOSECOND));
    return expect(run, setting);
}

// The wall clock is set in the middle of the first run, then in the middle of the second.
static Status waiting_and_clock_set(Draw *draw, CaseRun *run) {
    Setting setting = {draw_clock(draw, second / 4),
                       {.base_ps = 42 * PICOSECONDS_PER_SECOND / 10, .asleep_percent = 60}};
    if (draw->run == 2) {
        setting.work.base_ps += draw_between(draw, -100, 100) * PICOSECONDS_PER_SECOND / 1000;
        setting.work.asleep_percent = draw_between(draw, 55, 70);
    }
    int64_t ns = setting.work.base_ps / PICOSECONDS_PER_NANOSECOND;
    setting.clock.set_after_ns = draw->run == 1 ? ns + ns / 2 : ns / 2;
    setting.clock.set_by_ns = -ns / 4;
    snprintf(
        run->shown, CASE_LINE,
        "work of %.3f s, %lld %% of it waiting; the wall clock is set back by %.3f s meanwhile",
        1e-9 * (double)ns, (long long)setting.work.asleep_percent, 0.25e-9 * (double)ns);
    return expect(run, setting);
}

// Seconds beyond an int, with 160 ns to measure; 2.45 s in which the seconds grow beyond an int,
// and beyond an unsigned; a step of a second, with the start in its middle; 7.5 ns, not a whole
// number; a million runs, with shorter steps on other clocks; readings that take half as long as
// the work, so that eight of them among 255 runs are more than 1 %.
static Status unusual_clocks(Draw *draw, CaseRun *run) {
    static const struct {
        int64_t seconds, milliseconds, step, work_ps, reading_ps, others;
    } clocks[] = {{4000000000, 100, 1, 160000, 0, 0},
                  {2147483646, 100, 1, 2450000000000, 0, 0},
                  {4294967294, 100, 1, 2450000000000, 0, 0},
                  {0, 600, 1000000000, 30500000000000, 0, 0},
                  {0, 0, 200, 7500, 0, 0},
                  {0, 0, 1000000, 154450, 0, 1000},
                  {0, 0, 1000, 1400000, 700000, 0}};
    Setting setting = {draw_clock(draw, clocks[draw->run].milliseconds * millisecond),
                       {.base_ps = clocks[draw->run].work_ps}};
    if (draw->run == 1 || draw->run == 2) // exact to the second
        setting.clock.monotonic_ns = clocks[draw->run].milliseconds * millisecond;
    setting.clock.monotonic_ns += clocks[draw->run].seconds * second;
    setting.clock.resolution_ns = clocks[draw->run].step;
    setting.clock.reading_ps = clocks[draw->run].reading_ps;
    setting.clock.others_ns = clocks[draw->run].others;
    snprintf(run->shown, CASE_LINE, "a clock at %lld s, in steps of %lld ns   work of %.10g s",
             (long long)(setting.clock.monotonic_ns / second),
             (long long)setting.clock.resolution_ns, 1e-12 * (double)setting.work.base_ps);
    return expect(run, setting);
}

static const ExerciseCase cases[] = {
    {.name = "two_readings", .points = 1, .runs = 4, .clauses = "2 3 4 10", .make = two_readings},
    {.name = "shorter_than_a_step",
     .points = 1,
     .runs = 4,
     .clauses = "5 6 7 9",
     .make = shorter_than_a_step},
    {.name = "waiting_and_clock_set",
     .points = 1,
     .runs = 3,
     .hidden = true,
     .clauses = "1",
     .make = waiting_and_clock_set},
    {.name = "unusual_clocks",
     .points = 1,
     .runs = 7,
     .hidden = true,
     .clauses = "5 6 7 8 9",
     .make = unusual_clocks},
};

const Exercise exercise_05 = {.number = "05",
                              .name = "clock",
                              .function = "clock_elapsed",
                              .title = "How long did it take?",
                              .minutes = 20,
                              .points = 4,
                              .cases = cases,
                              .n_cases = sizeof cases / sizeof cases[0]};
