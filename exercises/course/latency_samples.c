// latency_samples.c -- the samples of a schedule, right and wrong, and their statistics.
#include "exercises/course/latency_samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exercises/course/values.h"

// ---- taking ------------------------------------------------------------------------------------
static int compare(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

double latency_middle(const double *values, int64_t n) {
    return 0.5 * (values[(n - 1) / 2] + values[n / 2]);
}

static void take_wrongly(LatencySamples *samples, int which) {
    double values[LATENCY_MOST_RUNS], sum = 0.0;
    VirtualTime time = virtual_time_start(samples->clock);
    VirtualWork work = samples->work;
    virtual_work_run(&work, samples->warmup, &time);
    for (int64_t i = 0; i < samples->n; i++) {
        struct timespec start, end;
        virtual_time_read(&time, wrong_clocks[which].id, &start);
        virtual_work_run(&work, 1, &time);
        virtual_time_read(&time, wrong_clocks[which].id, &end);
        values[i] = wrong_clock_between(&wrong_clocks[which], start, end);
        sum += values[i];
    }
    qsort(values, (size_t)samples->n, sizeof(double), compare);
    samples->wrong[which].median = latency_middle(values, samples->n);
    samples->wrong[which].mean = sum / (double)samples->n;
}

Status latency_samples_take(LatencySamples *samples) {
    int64_t n = samples->n;
    for (int64_t i = 0; i < samples->warmup + n; i++)
        samples->runs[i] =
            (double)virtual_work_ps(&samples->work, i) / (double)PICOSECONDS_PER_SECOND;
    const double *taken = samples->runs + samples->warmup;
    memcpy(samples->sorted, taken, (size_t)n * sizeof(double));
    qsort(samples->sorted, (size_t)n, sizeof(double), compare);
    for (int i = 0; i < WRONG_CLOCKS; i++) take_wrongly(samples, i);
    bool enough;
    int64_t missing;
    Status status = statistics_summarise(taken, n, &samples->right);
    if (!status) status = statistics_summarise(samples->runs, n, &samples->without_warmup);
    if (!status) status = statistics_percentile(taken, n, 95.0, &samples->p95, &enough, &missing);
    return status;
}

// ---- what each value may be instead ------------------------------------------------------------
static void expect_n(CaseRun *run, const LatencySamples *m) {
    run_expect_integer(run, "n", m->n);
    run_mistake_integer(run, "warmup_counted", m->n + m->warmup);
    run_mistake_integer(run, "samples_off_by_one", m->n - 1);
    run_mistake_integer(run, "samples_off_by_one", m->n + 1);
    run_mistake_integer(run, "warmup_taken_from_samples", m->n - m->warmup);
    run_expect_recorded(run, "calls of run", RECORDED_WORKS, m->warmup + m->n);
    run_mistake_integer(run, "run_twice", m->warmup + 2 * m->n);
    run_mistake_integer(run, "run_twice", 2 * (m->warmup + m->n));
    run_mistake_integer(run, "warmup_missing", m->n);
    run_mistake_integer(run, "samples_off_by_one", m->warmup + m->n - 1);
    run_mistake_integer(run, "samples_off_by_one", m->warmup + m->n + 1);
    if (m->warmup > 1) run_mistake_integer(run, "warmup_once", m->n + 1);
    run_expect_integer(run, "calls without the argument", 0);
    run_mistake_integer(run, "argument_forgotten", 1);
}

static void expect_median(CaseRun *run, const LatencySamples *m) {
    int64_t n = m->n;
    run_expect_real(run, "median", m->right.median, 1e-4);
    if (n == 1) run_mistake_real(run, "beyond_last_sample", (double)NAN);
    if (n == 1) run_mistake_real(run, "beyond_last_sample", 0.0);
    run_mistake_real(run, "mean_for_median", m->right.mean);
    run_mistake_real(run, "minimum_for_median", m->right.min);
    run_mistake_real(run, "unsorted_median", latency_middle(m->runs + m->warmup, n));
    run_mistake_real(run, "even_median", m->sorted[n / 2]);
    run_mistake_real(run, "even_median", m->sorted[(n - 1) / 2]);
    run_mistake_real(run, "warmup_missing", m->without_warmup.median);
    for (int i = 0; i < WRONG_CLOCKS; i++)
        run_mistake_real(run, wrong_clocks[i].name, m->wrong[i].median);
}

static void expect_mean(CaseRun *run, const LatencySamples *m) {
    double sum = m->right.mean * (double)m->n, all = 0.0;
    for (int64_t i = 0; i < m->warmup + m->n; i++) all += m->runs[i];
    run_expect_real(run, "mean", m->right.mean, 1e-4);
    for (int i = 0; i < WRONG_CLOCKS; i++)
        run_mistake_real(run, wrong_clocks[i].name, m->wrong[i].mean);
    run_mistake_real(run, "mean_divided_by_warmup_too", sum / (double)(m->n + m->warmup));
    run_mistake_real(run, "warmup_counted", all / (double)(m->n + m->warmup));
    run_mistake_real(run, "warmup_counted", all / (double)m->n);
    run_mistake_real(run, "warmup_missing", m->without_warmup.mean);
}

static void expect_min_max(CaseRun *run, const LatencySamples *m) {
    run_expect_real(run, "min", m->right.min, 1e-4);
    run_mistake_real(run, "warmup_missing", m->without_warmup.min);
    run_mistake_real(run, "milliseconds_for_seconds", 1e3 * m->right.min);
    run_expect_real(run, "max", m->right.max, 1e-4);
    run_mistake_real(run, "warmup_missing", m->without_warmup.max);
    run_mistake_real(run, "milliseconds_for_seconds", 1e3 * m->right.max);
}

// For quantiles by another rule: the sample at `position`, counted from 1, interpolated.
static double at(const LatencySamples *m, double position) {
    double clamped = fmin(fmax(position, 1.0), (double)m->n);
    int64_t below = (int64_t)clamped;
    if (below == m->n) return m->sorted[below - 1];
    return m->sorted[below - 1] +
           (clamped - (double)below) * (m->sorted[below] - m->sorted[below - 1]);
}

static void expect_iqr(CaseRun *run, const LatencySamples *m) {
    double n = (double)m->n;
    run_expect_real(run, "iqr", m->right.iqr, 1e-3);
    if (m->n == 1) run_mistake_real(run, "beyond_last_sample", (double)NAN);
    run_mistake_real(run, "stddev_for_iqr", m->right.stddev);
    run_mistake_real(run, "stddev_for_iqr", m->right.stddev * sqrt((n - 1.0) / n));
    run_mistake_real(run, "range_for_iqr", m->right.max - m->right.min);
    run_mistake_real(run, "quartile_for_iqr", at(m, 1.0 + 0.75 * (n - 1.0)));
    run_mistake_real(run, "quartile_rule", at(m, ceil(0.75 * n)) - at(m, ceil(0.25 * n)));
    run_mistake_real(run, "quartile_rule", at(m, floor(0.75 * n) + 1) - at(m, floor(0.25 * n) + 1));
    run_mistake_real(run, "quartile_rule", at(m, 0.75 * (n + 1.0)) - at(m, 0.25 * (n + 1.0)));
    run_mistake_real(run, "milliseconds_for_seconds", 1e3 * m->right.iqr);
}

static void expect_p95(CaseRun *run, const LatencySamples *m) {
    double n = (double)m->n;
    bool enough = !isnan(m->p95);
    const char *name = enough ? "percentile_rule" : "percentile_too_few";
    run_expect_real(run, "p95", m->p95, 1e-4);
    run_mistake_real(run, name, at(m, (double)((95 * m->n + 99) / 100)));
    run_mistake_real(run, name, at(m, 1.0 + 0.95 * (n - 1.0)));
    run_mistake_real(run, name, at(m, floor(0.95 * n) + 1.0));
    run_mistake_real(run, name, at(m, floor(0.95 * n)));
    run_mistake_real(run, name, at(m, ceil(0.95 * n) + 1.0));
    if (!enough) run_mistake_real(run, name, 0.0);
    if (!enough) run_mistake_real(run, name, -1.0);
    run_mistake_real(run, enough ? "percentile_is_maximum" : name, at(m, n));
    run_mistake_real(run, "percentile_unavailable", (double)NAN);
    if (enough) run_mistake_real(run, "milliseconds_for_seconds", 1e3 * m->p95);
}

static void expect_account(CaseRun *run) {
    run_expect_integer(run, "allocates between samples", 0);
    run_mistake_integer(run, "allocation_in_loop", 1);
    run_expect_integer(run, "blocks not freed", 0);
    for (int blocks = 1; blocks <= 8; blocks++)
        run_mistake_integer(run, "samples_not_freed", blocks);
    run_expect_integer(run, "frees of what is not live", 0);
    for (int frees = 1; frees <= 8; frees++) run_mistake_integer(run, "samples_not_freed", frees);
    run_expect_integer(run, "a NULL went unnoticed", 0);
    run_mistake_integer(run, "null_unchecked", 1);
}

void latency_samples_expect(const LatencySamples *samples, int64_t ask, CaseRun *run) {
    if (ask & LATENCY_ASK_N) expect_n(run, samples);
    if (ask & LATENCY_ASK_MEDIAN) expect_median(run, samples);
    if (ask & LATENCY_ASK_MEAN) expect_mean(run, samples);
    if (ask & LATENCY_ASK_MIN_MAX) expect_min_max(run, samples);
    if (ask & LATENCY_ASK_IQR) expect_iqr(run, samples);
    if (ask & LATENCY_ASK_P95) expect_p95(run, samples);
    if (ask & LATENCY_ASK_ACCOUNT) expect_account(run);
}
