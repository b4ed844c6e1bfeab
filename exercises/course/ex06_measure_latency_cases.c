// ex06_measure_latency_cases.c -- exercise 06 in the grader. The samples are the work's schedule,
// what they say is profiler/statistics; wrong values are other statistics of the same samples.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exercises/course/ex06_values.h"
#include "exercises/grader/exercise.h"
#include "exercises/support/virtual_work.h"
#include "profiler/statistics.h"

enum { MOST_RUNS = 512, ASLEEP_PERCENT = 40 };

typedef struct Measurement {
    int64_t warmup, n;
    VirtualWork work;
    double runs[MOST_RUNS]; // seconds: of the warm-up, then of the samples
    double sorted[MOST_RUNS];
    LatencyStatistics right, without_warmup; // the latter: of the first n runs
    double p95;
} Measurement;

static int compare(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static Status measure(Measurement *m) {
    for (int64_t i = 0; i < m->warmup + m->n; i++)
        m->runs[i] = (double)virtual_work_ps(&m->work, i) / (double)PICOSECONDS_PER_SECOND;
    const double *samples = m->runs + m->warmup;
    memcpy(m->sorted, samples, (size_t)m->n * sizeof(double));
    qsort(m->sorted, (size_t)m->n, sizeof(double), compare);
    bool enough;
    int64_t missing;
    Status status = statistics_summarise(samples, m->n, &m->right);
    if (!status) status = statistics_summarise(m->runs, m->n, &m->without_warmup);
    if (!status) status = statistics_percentile(samples, m->n, 95.0, &m->p95, &enough, &missing);
    return status;
}

// ---- what each value may be instead ------------------------------------------------------------
static void expect_n(CaseRun *run, const Measurement *m) {
    run_expect_integer(run, "n", m->n);
    run_mistake_integer(run, "warmup_counted", m->n + m->warmup);
    run_mistake_integer(run, "samples_off_by_one", m->n - 1);
    run_mistake_integer(run, "samples_off_by_one", m->n + 1);
    run_mistake_integer(run, "warmup_taken_from_samples", m->n - m->warmup);
}

static void expect_calls(CaseRun *run, const Measurement *m) {
    run_expect_integer(run, "calls of run", m->warmup + m->n);
    run_mistake_integer(run, "warmup_missing", m->n);
    run_mistake_integer(run, "samples_off_by_one", m->warmup + m->n - 1);
    run_mistake_integer(run, "samples_off_by_one", m->warmup + m->n + 1);
}

static double middle(const double *samples, int64_t n) {
    return 0.5 * (samples[(n - 1) / 2] + samples[n / 2]);
}

static void expect_median(CaseRun *run, const Measurement *m) {
    int64_t n = m->n;
    run_expect_real(run, "median", m->right.median, 1e-4);
    run_mistake_real(run, "mean_for_median", m->right.mean);
    run_mistake_real(run, "minimum_for_median", m->right.min);
    run_mistake_real(run, "unsorted_median", middle(m->runs + m->warmup, n));
    run_mistake_real(run, "even_median", m->sorted[n / 2]);
    run_mistake_real(run, "even_median", m->sorted[(n - 1) / 2]);
    run_mistake_real(run, "milliseconds_for_seconds", 1e3 * m->right.median);
    run_mistake_real(run, "cpu_clock", (1.0 - 0.01 * ASLEEP_PERCENT) * m->right.median);
    run_mistake_real(run, "warmup_missing", m->without_warmup.median);
}

static void expect_mean(CaseRun *run, const Measurement *m) {
    double sum = m->right.mean * (double)m->n, all = 0.0;
    for (int64_t i = 0; i < m->warmup + m->n; i++) all += m->runs[i];
    run_expect_real(run, "mean", m->right.mean, 1e-4);
    run_mistake_real(run, "mean_divided_by_warmup_too", sum / (double)(m->n + m->warmup));
    run_mistake_real(run, "warmup_counted", all / (double)(m->n + m->warmup));
    run_mistake_real(run, "warmup_counted", all / (double)m->n);
    run_mistake_real(run, "warmup_missing", m->without_warmup.mean);
    run_mistake_real(run, "milliseconds_for_seconds", 1e3 * m->right.mean);
}

static void expect_min_max(CaseRun *run, const Measurement *m) {
    run_expect_real(run, "min", m->right.min, 1e-4);
    run_mistake_real(run, "warmup_missing", m->without_warmup.min);
    run_mistake_real(run, "milliseconds_for_seconds", 1e3 * m->right.min);
    run_expect_real(run, "max", m->right.max, 1e-4);
    run_mistake_real(run, "warmup_missing", m->without_warmup.max);
    run_mistake_real(run, "milliseconds_for_seconds", 1e3 * m->right.max);
}

// Quantiles by another rule: sample number `position`, counted from 1, interpolated.
static double at(const Measurement *m, double position) {
    double clamped = fmin(fmax(position, 1.0), (double)m->n);
    int64_t below = (int64_t)clamped;
    if (below == m->n) return m->sorted[below - 1];
    return m->sorted[below - 1] +
           (clamped - (double)below) * (m->sorted[below] - m->sorted[below - 1]);
}

static void expect_iqr(CaseRun *run, const Measurement *m) {
    double n = (double)m->n;
    run_expect_real(run, "iqr", m->right.iqr, 1e-3);
    run_mistake_real(run, "stddev_for_iqr", m->right.stddev);
    run_mistake_real(run, "stddev_for_iqr", m->right.stddev * sqrt((n - 1.0) / n));
    run_mistake_real(run, "range_for_iqr", m->right.max - m->right.min);
    run_mistake_real(run, "quartile_for_iqr", at(m, 1.0 + 0.75 * (n - 1.0)));
    run_mistake_real(run, "quartile_rule", at(m, ceil(0.75 * n)) - at(m, ceil(0.25 * n)));
    run_mistake_real(run, "quartile_rule", at(m, floor(0.75 * n) + 1) - at(m, floor(0.25 * n) + 1));
    run_mistake_real(run, "quartile_rule", at(m, 0.75 * (n + 1.0)) - at(m, 0.25 * (n + 1.0)));
    run_mistake_real(run, "milliseconds_for_seconds", 1e3 * m->right.iqr);
}

static void expect_p95(CaseRun *run, const Measurement *m) {
    double n = (double)m->n;
    bool enough = !isnan(m->p95);
    const char *name = enough ? "percentile_rule" : "percentile_too_few";
    run_expect_real(run, "p95", m->p95, 1e-4);
    run_mistake_real(run, name, at(m, (double)((95 * m->n + 99) / 100)));
    run_mistake_real(run, name, at(m, 1.0 + 0.95 * (n - 1.0)));
    run_mistake_real(run, name, at(m, floor(0.95 * n) + 1.0));
    run_mistake_real(run, name, at(m, floor(0.95 * n)));
    run_mistake_real(run, "percentile_unavailable", (double)NAN);
    if (enough) run_mistake_real(run, "milliseconds_for_seconds", 1e3 * m->p95);
}

static void expect_account(CaseRun *run) {
    run_expect_integer(run, "allocates between samples", 0);
    run_mistake_integer(run, "allocation_in_loop", 1);
    run_expect_integer(run, "blocks not freed", 0);
    run_mistake_integer(run, "samples_not_freed", 1);
}

// ---- cases -------------------------------------------------------------------------------------
static void write_input(CaseRun *run, const Measurement *m, int ask) {
    snprintf(run->input, sizeof run->input, "ask=%d warmup=%lld iterations=%lld", ask,
             (long long)m->warmup, (long long)m->n);
    virtual_work_write(&m->work, run->input, sizeof run->input);
    virtual_clock_write(&(VirtualClock){.resolution_ns = 1, .reading_ps = 20000}, run->input,
                        sizeof run->input);
}

static void show(CaseRun *run, const Measurement *m, const char *formula) {
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

static Status expect(CaseRun *run, Measurement *m, int ask, const char *formula) {
    Status status = measure(m);
    if (status) return status;
    write_input(run, m, ask);
    show(run, m, formula);
    snprintf(run->asked, CASE_LINE, "seconds, of the samples");
    if (ask & ASK_N) expect_n(run, m);
    if (ask & ASK_CALLS) expect_calls(run, m);
    if (ask & ASK_MEDIAN) expect_median(run, m);
    if (ask & ASK_MEAN) expect_mean(run, m);
    if (ask & ASK_MIN) expect_min_max(run, m);
    if (ask & ASK_IQR) expect_iqr(run, m);
    if (ask & ASK_P95) expect_p95(run, m);
    if (ask & ASK_ALLOCATES) expect_account(run);
    return STATUS_OK;
}

// Work of about 10 ms; one run in `every` is interrupted.
static VirtualWork draw_work(Draw *draw, int64_t every) {
    return (VirtualWork){.base_ps = draw_between(draw, 9000, 11000) * 1000000,
                         .jitter_ps = 2000 * 1000000LL,
                         .outlier_every = every,
                         .outlier_ps = draw_between(draw, 25000, 45000) * 1000000,
                         .asleep_percent = ASLEEP_PERCENT,
                         .seed = draw_between(draw, 1, 1000000)};
}

// Samples whose unsorted middle is not by luck another statistic.
static Measurement draw_measurement(Draw *draw, int64_t n, int64_t interrupted_every) {
    Measurement m = {.n = n, .work = draw_work(draw, interrupted_every)};
    for (bool luck = true; luck; m.work.seed += luck) {
        if (measure(&m)) break; // out of memory: so will it be for the caller
        double unsorted = middle(m.runs, n);
        const double others[] = {m.right.median, m.right.min, m.right.mean, m.sorted[n / 2],
                                 m.sorted[(n - 1) / 2]};
        luck = false;
        for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
            if (fabs(unsorted - others[i]) < 1e-3 * others[i]) luck = true;
    }
    return m;
}

static Status median_of_odd(Draw *draw, CaseRun *run) {
    Measurement m = draw_measurement(draw, 3 + 2 * draw_between(draw, 1, 3), 3);
    return expect(run, &m, ASK_N | ASK_CALLS | ASK_MEDIAN, "the middle one of the sorted samples");
}

static Status median_of_even(Draw *draw, CaseRun *run) {
    Measurement m = draw_measurement(draw, 4 + 2 * draw_between(draw, 0, 2), 4);
    return expect(run, &m, ASK_N | ASK_CALLS | ASK_MEDIAN,
                  "half-way between the two middle ones of the sorted samples");
}

static Status warm_up(Draw *draw, CaseRun *run) {
    Measurement m = {.warmup = draw_between(draw, 2, 4),
                     .n = draw_between(draw, 10, 20),
                     .work = draw_work(draw, 0)};
    m.work.cold_ps = draw_between(draw, 60000, 90000) * 1000000;
    return expect(run, &m, ASK_N | ASK_CALLS | ASK_MEDIAN | ASK_MIN | ASK_MAX,
                  "runs number warmup .. warmup + iterations - 1, from 0");
}

static Status mean_min_max(Draw *draw, CaseRun *run) {
    Measurement m = {.warmup = draw_between(draw, 5, 7),
                     .n = draw_between(draw, 20, 40),
                     .work = draw_work(draw, 6)};
    return expect(run, &m, ASK_N | ASK_MEAN | ASK_MIN | ASK_MAX, "sum of the samples / n");
}

static Status quartiles(Draw *draw, CaseRun *run) {
    Measurement m = {.n = 4 * draw_between(draw, 2, 6) + draw_between(draw, 2, 3),
                     .work = draw_work(draw, 9)};
    return expect(run, &m, ASK_N | ASK_IQR, "quantile 3/4 - quantile 1/4, at (n - 1) q");
}

static Status p95_of_enough(Draw *draw, CaseRun *run) {
    int64_t n = draw->run == 0 ? 90 : draw_between(draw, 91, 260);
    Measurement m = {.n = n, .work = draw_work(draw, 16)};
    return expect(run, &m, ASK_N | ASK_P95, "sorted sample number ceil(0.95 n), from 1");
}

static Status p95_of_too_few(Draw *draw, CaseRun *run) {
    int64_t n = draw->run == 0 ? 89 : draw_between(draw, 20, 88);
    Measurement m = {.n = n, .work = draw_work(draw, 16)};
    return expect(run, &m, ASK_N | ASK_P95, "NAN: fewer than 90 samples");
}

static Status memory_untouched(Draw *draw, CaseRun *run) {
    Measurement m = {.warmup = draw_between(draw, 1, 4),
                     .n = draw_between(draw, 50, 100),
                     .work = draw_work(draw, 7)};
    return expect(run, &m, ASK_ALLOCATES | ASK_LEAKS,
                  "allocate before the first run, free after the last");
}

static Status bad_options(Draw *draw, CaseRun *run) {
    Measurement m = {.warmup = draw->run == 1 ? -1 : draw_between(draw, 0, 3),
                     .n = draw->run == 1 ? 5 : -draw_between(draw, 0, 1) * (draw->run == 2),
                     .work = draw_work(draw, 3)};
    write_input(run, &m, 0);
    snprintf(run->shown, CASE_LINE, "warmup %lld, iterations %lld", (long long)m.warmup,
             (long long)m.n);
    snprintf(run->asked, CASE_LINE, "the status");
    snprintf(run->formula, CASE_LINE, "a measurement without samples has no median");
    run->status = STATUS_INVALID_ARGUMENT;
    run_mistake_status(run, "bad_options_accepted", STATUS_OK);
    return STATUS_OK;
}

// Five latencies, one of them interrupted: which number stands for them?
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
    {.name = "median_of_odd", .points = 2, .runs = 3, .make = median_of_odd},
    {.name = "median_of_even", .points = 1, .runs = 3, .make = median_of_even},
    {.name = "warm_up", .points = 2, .runs = 2, .make = warm_up},
    {.name = "mean_min_max", .points = 1, .runs = 2, .make = mean_min_max},
    {.name = "quartiles", .points = 1, .runs = 3, .make = quartiles},
    {.name = "p95_of_enough", .points = 1, .runs = 3, .make = p95_of_enough},
    {.name = "p95_of_too_few",
     .points = 1,
     .runs = 3,
     .needs = "p95_of_enough",
     .make = p95_of_too_few},
    {.name = "memory_untouched",
     .points = 1,
     .runs = 1,
     .needs = "median_of_odd",
     .make = memory_untouched},
    {.name = "bad_options", .points = 1, .runs = 3, .needs = "median_of_odd", .make = bad_options},
    {.name = "median_by_hand",
     .points = 1,
     .runs = 1,
     .by_hand = "06_latency_ms",
     .make = median_by_hand},
};

static const char *const symbols[] = {"clock_gettime", "clock_getres",  "timespec_get", "time",
                                      "gettimeofday",  "clock",         "malloc",       "calloc",
                                      "realloc",       "aligned_alloc", "free",         "qsort",
                                      "ceil",          "floor",         "fmin",         "fmax",
                                      "lround",        "isnan",         "nan",          NULL};

const Exercise exercise_06 = {.number = "06",
                              .name = "measure_latency",
                              .function = "measure_latency",
                              .title = "A latency to trust",
                              .minutes = 60,
                              .points = 12,
                              .symbols = symbols,
                              .cases = cases,
                              .n_cases = sizeof cases / sizeof cases[0]};
