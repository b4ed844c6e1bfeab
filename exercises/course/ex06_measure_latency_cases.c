// ex06_measure_latency_cases.c -- exercise 06 in the grader: the samples of each case. The first
// run of a case, and other fixed runs, tell mistakes apart; the rest vary the numbers.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "exercises/course/latency_samples.h"
#include "exercises/course/values.h"

static const int64_t millisecond = 1000000000, microsecond = 1000000; // picoseconds

enum { N = LATENCY_ASK_N, MEDIAN = LATENCY_ASK_MEDIAN, MIN_MAX = LATENCY_ASK_MIN_MAX };

// ---- what all cases do -------------------------------------------------------------------------
static void write_input(CaseRun *run, const LatencySamples *m, int64_t ask) {
    snprintf(run->input, sizeof run->input, "ask=%lld warmup=%lld iterations=%lld", (long long)ask,
             (long long)m->warmup, (long long)m->n);
    virtual_work_write(&m->work, run->scene, sizeof run->scene);
    virtual_clock_write(&m->clock, run->scene, sizeof run->scene);
}

static void show(CaseRun *run, const LatencySamples *m, const char *formula) {
    snprintf(run->shown, CASE_LINE, "warmup %lld, iterations %lld; runs of", (long long)m->warmup,
             (long long)m->n);
    for (int64_t i = 0; i < m->warmup + m->n && i < 9; i++) {
        size_t used = strlen(run->shown);
        snprintf(run->shown + used, CASE_LINE - used, " %.3f", 1e3 * m->runs[i]);
    }
    size_t used = strlen(run->shown);
    snprintf(run->shown + used, CASE_LINE - used, "%s ms", m->warmup + m->n > 9 ? " ..." : "");
    snprintf(run->formula, CASE_LINE, "%s", formula);
}

static Status expect(CaseRun *run, LatencySamples *m, int64_t ask, const char *formula) {
    m->clock.resolution_ns = 1;
    m->clock.reading_ps = 20000;
    Status status = latency_samples_take(m);
    if (status) return status;
    write_input(run, m, ask);
    show(run, m, formula);
    snprintf(run->asked, CASE_LINE, "seconds, of the samples");
    latency_samples_expect(m, ask, run);
    return STATUS_OK;
}

// Work of about 10 ms; one run in `every` is interrupted.
static VirtualWork draw_work(Draw *draw, int64_t every, bool fixed) {
    int64_t base = draw_between(draw, 9000, 11000), outlier = draw_between(draw, 25000, 45000);
    int64_t seed = draw_between(draw, 1, 1000000);
    return (VirtualWork){.base_ps = (fixed ? 10000 : base) * microsecond,
                         .jitter_ps = 2 * millisecond,
                         .outlier_every = every,
                         .outlier_ps = (fixed ? 30000 : outlier) * microsecond,
                         .asleep_percent = 40,
                         .seed = fixed ? 1 : seed};
}

// Draws samples whose unsorted middle does not happen to equal another statistic.
static Status draw_samples(Draw *draw, int64_t n, int64_t interrupted_every, LatencySamples *m) {
    *m = (LatencySamples){.n = n, .work = draw_work(draw, interrupted_every, draw->run == 0)};
    for (bool luck = true; luck; m->work.seed += luck) {
        Status status = latency_samples_take(m);
        if (status) return status;
        double unsorted = latency_middle(m->runs, n);
        const double others[] = {m->right.median, m->right.min, m->right.mean, m->sorted[n / 2],
                                 m->sorted[(n - 1) / 2]};
        luck = false;
        for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
            if (fabs(unsorted - others[i]) < 1e-3 * others[i]) luck = true;
    }
    return STATUS_OK;
}

// ---- cases -------------------------------------------------------------------------------------
static Status median_of_odd(Draw *draw, CaseRun *run) {
    LatencySamples m;
    int64_t n = draw->run == 0 ? 7 : 5 + 2 * draw_between(draw, 0, 2);
    Status status = draw_samples(draw, n, 3, &m);
    if (status) return status;
    return expect(run, &m, N | MEDIAN, "the middle one of the sorted samples");
}

static Status median_of_even(Draw *draw, CaseRun *run) {
    LatencySamples m;
    int64_t n = draw->run == 0 ? 6 : 4 + 2 * draw_between(draw, 0, 2);
    Status status = draw_samples(draw, n, 4, &m);
    if (status) return status;
    return expect(run, &m, N | MEDIAN,
                  "half-way between the two middle ones of the sorted samples");
}

// Samples of more than a second, with the wall clock set in the middle of one; and short samples,
// one of which begins in one second and ends in the next.
static Status clock_set(Draw *draw, CaseRun *run) {
    bool is_long = draw->run == 0;
    LatencySamples m = {.warmup = 1,
                        .n = 5,
                        .clock = {.realtime_ns = draw_between(draw, 1700000000, 1900000000)},
                        .work = draw_work(draw, 0, draw->run < 2)};
    m.clock.realtime_ns *= 1000000000;
    m.clock.monotonic_ns = draw_between(draw, 1, 9000) * 1000000000 + 970000000;
    if (is_long) m.work.base_ps = 1200 * millisecond;
    if (is_long) m.work.jitter_ps = 1400 * millisecond;
    for (int i = 0; i < 7; i++)
        m.clock.set_after_ns += virtual_work_ps(&m.work, i / 2) / PICOSECONDS_PER_NANOSECOND / 2;
    m.clock.set_by_ns = -3000000000;
    return expect(run, &m, N | LATENCY_ASK_MEAN, "by CLOCK_MONOTONIC, seconds and nanoseconds");
}

// All six warm-up runs are needed: the last of them is still slower than any sample.
static Status warm_up(Draw *draw, CaseRun *run) {
    LatencySamples m = {.warmup = draw->run == 0 ? 6 : draw_between(draw, 2, 5),
                        .n = draw->run == 0 ? 11 : 1 + 2 * draw_between(draw, 5, 10),
                        .work = draw_work(draw, 0, draw->run == 0)};
    m.work.jitter_ps = 100 * microsecond;
    m.work.cold_ps = 300 * millisecond;
    return expect(run, &m, N | MEDIAN | MIN_MAX,
                  "runs number warmup .. warmup + iterations - 1, from 0");
}

static Status mean_min_max(Draw *draw, CaseRun *run) {
    LatencySamples m = {.warmup = draw->run == 0 ? 5 : draw_between(draw, 5, 7),
                        .n = draw->run == 0 ? 22 : draw_between(draw, 20, 40),
                        .work = draw_work(draw, 6, draw->run == 0)};
    return expect(run, &m, N | LATENCY_ASK_MEAN | MIN_MAX, "sum of the samples / n");
}

static Status quartiles(Draw *draw, CaseRun *run) {
    const int64_t n[] = {18, 19, draw_between(draw, 8, 27)};
    LatencySamples m = {.n = n[draw->run], .work = draw_work(draw, 7, draw->run < 2)};
    return expect(run, &m, N | LATENCY_ASK_IQR, "quantile 3/4 - quantile 1/4, at (n - 1) q");
}

// Work of a tenth of the time, so that many samples fit into a second.
static VirtualWork draw_short_work(Draw *draw, bool fixed) {
    VirtualWork work = draw_work(draw, 16, fixed);
    work.base_ps /= 10;
    work.jitter_ps /= 10;
    work.outlier_ps /= 10;
    return work;
}

static Status p95_of_enough(Draw *draw, CaseRun *run) {
    const int64_t n[] = {90, 100, 91, draw_between(draw, 91, 260), 1510}; // 85.5, 95.0, 86.45
    LatencySamples m = {.n = n[draw->run], .work = draw_short_work(draw, draw->run != 3)};
    if (draw->run == 4) {
        m.work.base_ps /= 2;
        m.work.jitter_ps /= 2;
        m.work.outlier_every *= 10;
    }
    return expect(run, &m, N | LATENCY_ASK_P95, "sorted sample number ceil(0.95 n), from 1");
}

static Status p95_of_too_few(Draw *draw, CaseRun *run) {
    LatencySamples m = {.warmup = draw->run == 0 ? 7 : draw_between(draw, 0, 90),
                        .n = draw->run == 0 ? 89 : draw_between(draw, 20, 88),
                        .work = draw_short_work(draw, draw->run == 0)};
    return expect(run, &m, N | LATENCY_ASK_P95, "NAN: fewer than 90 samples");
}

// Quantiles lie on a sample, or beside the last sample; and once samples are seconds apart.
static Status few_samples(Draw *draw, CaseRun *run) {
    LatencySamples m = {.n = draw->run + 1, .work = draw_work(draw, 2, true)};
    m.work.base_ps = draw_between(draw, 9000, 11000) * microsecond;
    if (draw->run == 3) {
        m.n = 5;
        m.work.base_ps *= 1000;
        m.work.jitter_ps *= 1000;
        m.work.outlier_ps *= 1000;
    }
    return expect(run, &m,
                  N | MEDIAN | LATENCY_ASK_MEAN | MIN_MAX | LATENCY_ASK_IQR | LATENCY_ASK_P95,
                  "of one sample: the median is that sample, the iqr 0");
}

static Status memory(Draw *draw, CaseRun *run) {
    LatencySamples m = {.warmup = draw->run == 0 ? 3 : draw_between(draw, 1, 4),
                        .n = draw->run == 0 ? 60 : draw_between(draw, 50, 100),
                        .work = draw_work(draw, 7, draw->run == 0)};
    Status status = expect(run, &m, LATENCY_ASK_ACCOUNT,
                           "allocate before the first run, free after the last, on every way out");
    snprintf(run->asked, CASE_LINE, "what it does with memory, also where malloc returns NULL");
    return status;
}

static Status bad_options(Draw *draw, CaseRun *run) {
    const struct {
        int64_t warmup, n;
    } options[] = {{3, 0}, {-1, 5}, {3, -2}, {INT64_MIN, 5}, {2, INT64_MIN}};
    LatencySamples m = {.warmup = options[draw->run].warmup,
                        .n = options[draw->run].n,
                        .work = draw_work(draw, 3, true)};
    write_input(run, &m, 0);
    snprintf(run->shown, CASE_LINE, "warmup %lld, iterations %lld", (long long)m.warmup,
             (long long)m.n);
    snprintf(run->asked, CASE_LINE, "the status, and how often run was called");
    snprintf(run->formula, CASE_LINE, "a measurement without samples has no median");
    run->status = STATUS_INVALID_ARGUMENT;
    run_mistake_status(run, "bad_options_accepted", STATUS_OK);
    run_expect_recorded(run, "calls of run", RECORDED_WORKS, 0);
    for (int calls = 1; calls <= 5; calls++)
        run_mistake_integer(run, "bad_options_accepted", calls);
    return STATUS_OK;
}

// Five latencies, one of them interrupted; asks for the number that represents them.
static Status median_by_hand(Draw *draw, CaseRun *run) {
    double tenths = draw->practice ? 105.0 : (double)draw_between(draw, 80, 300);
    double outlier = 4.0 * tenths + 69.0;
    const double ms[] = {tenths + 1.0, tenths - 3.0, outlier, tenths, tenths - 1.0};
    double sum = 0.0;
    snprintf(run->shown, CASE_LINE, "five runs, in ms:");
    for (size_t i = 0; i < sizeof ms / sizeof ms[0]; i++) {
        size_t used = strlen(run->shown);
        snprintf(run->shown + used, CASE_LINE - used, " %.1f", 0.1 * ms[i]);
        sum += 0.1 * ms[i];
    }
    snprintf(run->asked, CASE_LINE, "the latency to report, in ms");
    snprintf(run->formula, CASE_LINE, "the median: sort, and take the third");
    run_expect_real(run, "", 0.1 * tenths, 1e-9);
    run_mistake_real(run, "mean_for_median", sum / 5.0);
    run_mistake_real(run, "minimum_for_median", 0.1 * (tenths - 3.0));
    run_mistake_real(run, "unsorted_median", 0.1 * outlier);
    return STATUS_OK;
}

static const ExerciseCase cases[] = {
    {.name = "median_of_odd", .points = 1, .runs = 3, .clauses = "4 6", .make = median_of_odd},
    {.name = "median_of_even", .points = 1, .runs = 3, .clauses = "6", .make = median_of_even},
    {.name = "warm_up", .points = 1, .runs = 3, .clauses = "3", .make = warm_up},
    {.name = "mean_min_max", .points = 1, .runs = 2, .clauses = "5", .make = mean_min_max},
    {.name = "quartiles", .points = 1, .runs = 3, .clauses = "7", .make = quartiles},
    {.name = "p95_of_enough", .points = 1, .runs = 5, .clauses = "9", .make = p95_of_enough},
    {.name = "p95_of_too_few",
     .points = 1,
     .runs = 3,
     .clauses = "10",
     .needs = "p95_of_enough",
     .make = p95_of_too_few},
    {.name = "clock_set",
     .points = 1,
     .runs = 3,
     .hidden = true,
     .clauses = "4",
     .make = clock_set},
    {.name = "few_samples",
     .points = 1,
     .runs = 4,
     .hidden = true,
     .clauses = "1 5 6 8",
     .make = few_samples},
    {.name = "memory",
     .points = 1,
     .runs = 2,
     .clauses = "2 11 12",
     .needs = "median_of_odd",
     .make = memory},
    {.name = "bad_options",
     .points = 1,
     .runs = 5,
     .clauses = "1",
     .needs = "median_of_odd",
     .make = bad_options},
    {.name = "median_by_hand",
     .points = 1,
     .runs = 1,
     .by_hand = "06_latency_ms",
     .make = median_by_hand},
};

const Exercise exercise_06 = {.number = "06",
                              .name = "measure_latency",
                              .function = "measure_latency",
                              .title = "A latency to trust",
                              .short_track = true,
                              .minutes = 60,
                              .points = 12,
                              .cases = cases,
                              .n_cases = sizeof cases / sizeof cases[0]};
