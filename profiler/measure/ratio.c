// ratio.c -- sorts ratios of all pairs, or means of pairs, and finds how rarely so few fall on one
// side by chance. Exact up to EXACT_MOST times or pairs: 2^53 can hold all orders and signs.
#include "profiler/measure/ratio.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tensor/memory.h"

// Maximum number of times in all, or of pairs, for exact counts.
enum { EXACT_MOST = 50 };

static int compare(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static Status check(const double *seconds, int64_t n) {
    if (n < 1 || n > RATIO_MOST)
        return error_set(STATUS_INVALID_ARGUMENT, "ratio: of %lld times. HINT: 1 to %d",
                         (long long)n, RATIO_MOST);
    for (int64_t i = 0; i < n; i++)
        if (!(isfinite(seconds[i]) && seconds[i] > 0.0))
            return error_set(STATUS_INVALID_ARGUMENT,
                             "ratio: time %lld is %g. HINT: above 0, and finite", (long long)i,
                             seconds[i]);
    return STATUS_OK;
}

// ---- distribution of U -------------------------------------------------------------------------
// ways[u]: number of orders of n and m values with U = u, for u <= most: the coefficients of the
// product over i of (1 - q^(m + i)) / (1 - q^i), one factor after the other.
static void count_orders(int64_t n, int64_t m, int64_t most, double *ways) {
    memset(ways, 0, (size_t)(most + 1) * sizeof(double));
    ways[0] = 1.0;
    for (int64_t i = 1; i <= n; i++) {
        for (int64_t u = most; u >= m + i; u--) ways[u] -= ways[u - m - i];
        for (int64_t u = i; u <= most; u++) ways[u] += ways[u - i];
    }
}

// The largest k with P(U < k) <= tail, at least 1; *below: that probability.
static int64_t rank_exact(int64_t n, int64_t m, double tail, double *below) {
    enum { ROOM = EXACT_MOST * EXACT_MOST / 8 + 1 }; // U is symmetric: half of n x m
    double ways[ROOM], all = 1.0;
    int64_t half = n * m / 2, k = 1;
    count_orders(n, m, half, ways);
    for (int64_t i = 1; i <= n; i++) all *= (double)(m + i) / (double)i;
    double sum = ways[0];
    while (k <= half && (sum + ways[k]) / all <= tail) sum += ways[k++];
    *below = sum / all;
    return k;
}

static double normal_below(double z) { return 0.5 * erfc(-z * M_SQRT1_2); }

// Finds the rank by the normal approximation.
static int64_t rank_of_many(double middle, double deviation, double tail, double *below) {
    int64_t least = 1, most = (int64_t)middle + 1; // the answer lies in [least, most)
    while (most - least > 1) {
        int64_t k = least + (most - least) / 2;
        if (normal_below(((double)k - 0.5 - middle) / deviation) <= tail)
            least = k;
        else
            most = k;
    }
    *below = normal_below(((double)least - 0.5 - middle) / deviation);
    return least;
}

Status ratio_find(const double *before, int64_t n, const double *after, int64_t m,
                  double confidence, Ratio *out) {
    if (check(before, n) || check(after, m)) return error_status();
    int64_t pairs = n * m;
    double *ratios = memory_new((size_t)pairs * sizeof(double));
    if (!ratios) return error_status();
    for (int64_t i = 0; i < pairs; i++) ratios[i] = after[i % m] / before[i / m];
    qsort(ratios, (size_t)pairs, sizeof(double), compare);
    double tail = 0.5 * (1.0 - confidence), below;
    double deviation = sqrt((double)pairs * (double)(n + m + 1) / 12.0);
    int64_t k = n + m <= EXACT_MOST ? rank_exact(n, m, tail, &below)
                                    : rank_of_many(0.5 * (double)pairs, deviation, tail, &below);
    *out = (Ratio){.estimate = sqrt(ratios[(pairs - 1) / 2] * ratios[pairs / 2]),
                   .low = ratios[k - 1],
                   .high = ratios[pairs - k],
                   .confidence = 1.0 - 2.0 * below,
                   .reached = below <= tail};
    memory_free(ratios);
    return STATUS_OK;
}

// ---- pairs -------------------------------------------------------------------------------------
// ways[u]: number of the 2^n sign assignments to 1..n whose positive numbers sum to u.
static int64_t signed_rank_exact(int64_t n, double tail, double *below) {
    enum { ROOM = EXACT_MOST * (EXACT_MOST + 1) / 4 + 1 }; // symmetric: half of all
    double ways[ROOM] = {1.0}, all = ldexp(1.0, (int)n);
    int64_t half = n * (n + 1) / 4, k = 1;
    for (int64_t i = 1; i <= n; i++)
        for (int64_t u = half; u >= i; u--) ways[u] += ways[u - i];
    double sum = ways[0];
    while (k <= half && (sum + ways[k]) / all <= tail) sum += ways[k++];
    *below = sum / all;
    return k;
}

Status ratio_find_paired(const double *before, const double *after, int64_t n, double confidence,
                         Ratio *out) {
    if (check(before, n) || check(after, n)) return error_status();
    int64_t means = n * (n + 1) / 2, at = 0;
    double *mean = memory_new((size_t)means * sizeof(double));
    if (!mean) return error_status();
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = i; k < n; k++)
            mean[at++] = sqrt(after[i] / before[i] * (after[k] / before[k]));
    qsort(mean, (size_t)means, sizeof(double), compare);
    double tail = 0.5 * (1.0 - confidence), below, middle = 0.5 * (double)means;
    double deviation = sqrt((double)means * (double)(2 * n + 1) / 12.0);
    int64_t k = n <= EXACT_MOST ? signed_rank_exact(n, tail, &below)
                                : rank_of_many(middle, deviation, tail, &below);
    *out = (Ratio){.estimate = sqrt(mean[(means - 1) / 2] * mean[means / 2]),
                   .low = mean[k - 1],
                   .high = mean[means - k],
                   .confidence = 1.0 - 2.0 * below,
                   .reached = below <= tail};
    memory_free(mean);
    return STATUS_OK;
}
