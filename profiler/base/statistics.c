// statistics.c -- order statistics of latency samples; every function works on a sorted copy.
#include "profiler/base/statistics.h"

#include "tensor/given.h"
#include "tensor/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *left, const void *right) {
    double a = *(const double *)left;
    double b = *(const double *)right;
    return (a > b) - (a < b);
}

static Status check(const double *seconds, int64_t n) {
    if (n < 1 || !seconds) {
        return error_set(STATUS_INVALID_ARGUMENT,
                         "statistics: no samples (n = %lld). HINT: measure at least once",
                         (long long)n);
    }
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(seconds[i])) {
            return error_set(STATUS_NON_FINITE,
                             "statistics: sample %lld is %g. HINT: a latency is a finite time",
                             (long long)i, seconds[i]);
        }
        if (seconds[i] < 0.0) {
            return error_set(STATUS_INVALID_ARGUMENT,
                             "statistics: sample %lld is %g s, below 0. HINT: take both times from "
                             "the same monotonic clock, and subtract the earlier one",
                             (long long)i, seconds[i]);
        }
    }
    return STATUS_OK;
}

// Checks the samples and gives a sorted copy, to be freed with memory_free.
static Status sorted_copy(const double *seconds, int64_t n, double **out) {
    Status status = check(seconds, n);
    if (status != STATUS_OK) return status;
    size_t bytes = (size_t)n * sizeof(double);
    double *sorted = memory_new(bytes);
    if (sorted == NULL) return STATUS_OUT_OF_MEMORY;
    memcpy(sorted, seconds, bytes);
    qsort(sorted, (size_t)n, sizeof(double), compare);
    *out = sorted;
    return STATUS_OK;
}

static double quantile(const double *sorted, int64_t n, double q) {
    double position = (double)(n - 1) * q;
    int64_t below = (int64_t)position;
    if (below == n - 1) return sorted[below];
    double fraction = position - (double)below;
    return sorted[below] + fraction * (sorted[below + 1] - sorted[below]);
}

// The largest r with P(X < r) <= 2.5 % for X ~ Binomial(n, 1/2); 0 when there is none. Starts at
// the centre, where symmetry gives the tail, and walks down: about sqrt(n) steps. Summing from 0
// would start with 2^-n, which underflows to 0 for n > 1074. *below: that probability, on either
// side; without such an r, that of min and max.
static int64_t interval_rank(int64_t n, double *below) {
    int64_t k = n / 2;
    double mass = 1.0; // becomes P(X = k) = (1/2)(3/4)(5/6)...
    for (int64_t i = 1; i <= (n + 1) / 2; i++) mass *= (double)(2 * i - 1) / (double)(2 * i);
    double tail = n % 2 == 0 ? 0.5 + 0.5 * mass : 0.5; // P(X <= k)
    while (k >= 0 && tail > 0.025) {
        tail -= mass;
        mass *= (double)k / (double)(n - k + 1);
        k--;
    }
    *below = k >= 0 ? tail : ldexp(1.0, (int)-n);
    return k + 1;
}

// Welford's update: sums cannot overflow, and equal samples give their exact value and spread 0.
static void mean_and_stddev(const double *sorted, int64_t n, LatencyStatistics *out) {
    double mean = 0.0;
    double squares = 0.0; // sum of squared distances from the mean so far
    for (int64_t i = 0; i < n; i++) {
        double distance = sorted[i] - mean;
        mean += distance / (double)(i + 1);
        squares += distance * (sorted[i] - mean);
    }
    out->mean = mean;
    out->stddev = n > 1 ? sqrt(squares / (double)(n - 1)) : (double)NAN;
}

Status statistics_summarise(const double *seconds, int64_t n, LatencyStatistics *out) {
    if (!GIVEN(out)) return STATUS_INVALID_ARGUMENT;
    double *sorted = NULL;
    Status status = sorted_copy(seconds, n, &sorted);
    if (status != STATUS_OK) return status;
    out->n = n;
    out->min = sorted[0];
    out->max = sorted[n - 1];
    mean_and_stddev(sorted, n, out);
    out->median = quantile(sorted, n, 0.5);
    out->lower_quartile = quantile(sorted, n, 0.25);
    out->iqr = quantile(sorted, n, 0.75) - out->lower_quartile;
    double below;
    int64_t rank = interval_rank(n, &below);
    out->ci95_reached = rank >= 1;
    out->confidence = 1.0 - 2.0 * below;
    if (rank < 1) rank = 1;
    out->ci95_low = sorted[rank - 1];
    out->ci95_high = sorted[n - rank];
    memory_free(sorted);
    return STATUS_OK;
}

int64_t statistics_samples_needed(double percent) {
    if (!(percent >= 50.0 && percent < 100.0)) return 0;
    if (percent == 50.0) return 1;
    return (int64_t)ceil(log(0.01) / log(percent / 100.0));
}

Status statistics_percentile(const double *seconds, int64_t n, double percent, double *value,
                             bool *enough, int64_t *missing) {
    if (!(percent >= 50.0 && percent < 100.0)) {
        return error_set(STATUS_INVALID_ARGUMENT,
                         "statistics: percentile %g is not in [50, 100). HINT: p99.9 is 99.9, and "
                         "the largest sample is the maximum",
                         percent);
    }
    double *sorted = NULL;
    Status status = sorted_copy(seconds, n, &sorted);
    if (status != STATUS_OK) return status;
    int64_t needed = statistics_samples_needed(percent);
    *enough = n >= needed;
    *missing = *enough ? 0 : needed - n;
    if (!*enough) {
        *value = (double)NAN;
    } else if (percent == 50.0) {
        *value = quantile(sorted, n, 0.5);
    } else {
        // 50.2 is not exact in a double: that error times n must not raise the rank by one.
        double rank = ceil(percent * (double)n / 100.0 - 1e-12 * (double)n);
        *value = sorted[(int64_t)rank - 1];
    }
    memory_free(sorted);
    return STATUS_OK;
}

enum { TREND_MOST = 384 }; // most values compared; more are averaged in groups

// Median of at most TREND_MOST samples; a window is smaller.
static double median_of_few(const double *seconds, int n) {
    double sorted[TREND_MOST];
    memcpy(sorted, seconds, (size_t)n * sizeof(double));
    qsort(sorted, (size_t)n, sizeof(double), compare);
    return quantile(sorted, n, 0.5);
}

bool statistics_steady(const double *seconds, int64_t n, int window, double tolerance) {
    if (window < 1 || window > STATISTICS_MOST_WINDOW || n < 2 * window) return false;
    double now = median_of_few(seconds + n - window, window);
    double before = median_of_few(seconds + n - 2 * window, window);
    return fabs(now - before) <= tolerance * fmin(now, before);
}

// ---- trends ----------------------------------------------------------------------------------
// Means of consecutive groups of equal size; the last samples that fill no group are left out.
static int group_means(const double *seconds, int64_t n, double means[TREND_MOST]) {
    int64_t each = (n + TREND_MOST - 1) / TREND_MOST;
    int groups = (int)(n / each);
    for (int g = 0; g < groups; g++) {
        means[g] = 0.0;
        for (int64_t i = 0; i < each; i++) means[g] += seconds[g * each + i] / (double)each;
    }
    return groups;
}

bool statistics_trend(const double *seconds, int64_t n, double tolerance) {
    const double sure = 2.576; // standard deviations: 99 % on both sides
    double means[TREND_MOST], rises = 0.0;
    if (n < STATISTICS_LEAST_TREND) return false;
    int groups = group_means(seconds, n, means), third = groups / 3;
    for (int i = 0; i < groups; i++)
        for (int k = i + 1; k < groups; k++)
            rises += (double)((means[k] > means[i]) - (means[k] < means[i]));
    double m = (double)groups, deviation = sqrt(m * (m - 1.0) * (2.0 * m + 5.0) / 18.0);
    if (fabs(rises) - 1.0 <= sure * deviation) return false;
    double first = median_of_few(means, third);
    double last = median_of_few(means + groups - third, third);
    return fabs(last - first) > tolerance * first;
}
