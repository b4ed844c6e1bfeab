// ex06_measure_latency.c -- exercise 06, solved.
#include "exercises/ex06_measure_latency.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

enum { P95_SAMPLES = 90 };

static int compare(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double quantile(const double *sorted, int64_t n, double q) {
    double position = (double)(n - 1) * q;
    int64_t below = (int64_t)position;
    if (below == n - 1) return sorted[below];
    return sorted[below] + (position - (double)below) * (sorted[below + 1] - sorted[below]);
}

static void take_samples(void (*run)(void *), void *argument, double *samples, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        struct timespec start, end;
        clock_gettime(CLOCK_MONOTONIC, &start);
        run(argument);
        clock_gettime(CLOCK_MONOTONIC, &end);
        samples[i] =
            (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) * 1e-9;
    }
}

static void summarise(double *samples, int64_t n, LatencyResult *result) {
    double sum = 0.0;
    for (int64_t i = 0; i < n; i++) sum += samples[i];
    qsort(samples, (size_t)n, sizeof(double), compare);
    result->n = n;
    result->median = quantile(samples, n, 0.5);
    result->mean = sum / (double)n;
    result->min = samples[0];
    result->max = samples[n - 1];
    result->iqr = quantile(samples, n, 0.75) - quantile(samples, n, 0.25);
    result->p95 = n < P95_SAMPLES ? (double)NAN : samples[(95 * n + 99) / 100 - 1];
}

Status measure_latency(void (*run)(void *), void *argument, LatencyOptions options,
                       LatencyResult *result) {
    if (options.warmup < 0 || options.iterations < 1) return STATUS_INVALID_ARGUMENT;
    int64_t n = options.iterations;
    double *samples = malloc((size_t)n * sizeof(double));
    if (!samples) return STATUS_OUT_OF_MEMORY;
    for (int64_t i = 0; i < options.warmup; i++) run(argument);
    take_samples(run, argument, samples, n);
    summarise(samples, n, result);
    free(samples);
    return STATUS_OK;
}
