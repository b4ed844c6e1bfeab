// test_statistics.c -- profiler/base/statistics against numpy and the exact binomial distribution.
#include "profiler/base/statistics.h"
#include "tensor/memory.h"
#include "tests/helpers/harness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void check_near(double got, double want, const char *what) {
    if (isnan(want) && isnan(got)) return;
    ck_assert_msg(fabs(got - want) <= 1e-14 * fabs(want), "%s is %.17g instead of %.17g", what, got,
                  want);
}

// ---- Summaries

typedef struct NumpyCase { // n, samples, then numpy 2.4's results (std with ddof=1)
    int64_t n;
    double samples[10];
    double min, max, mean, stddev, median, iqr;
} NumpyCase;

static const NumpyCase numpy_cases[] = {
    {3, {3, 1, 2}, 1, 3, 2, 1, 2, 1},
    {4, {4, 1, 3, 2}, 1, 4, 2.5, 1.2909944487358056, 2.5, 1.5},
    {7,
     {0.00106, 0.00105, 0.00107, 0.00291, 0.00104, 0.00106, 0.00108},
     0.00104,
     0.00291,
     0.001324285714285714,
     0.0006993534428993955,
     0.00106,
     2.0000000000000052e-05},
    {10,
     {1e-6, 2.5e-6, 1.25e-6, 9e-6, 3e-6, 3e-6, 7.5e-6, 2e-6, 4e-6, 6.5e-6},
     1e-6,
     9e-6,
     3.975e-06,
     2.7549198415440937e-06,
     3e-06,
     3.7499999999999997e-06},
    {4,
     {1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16},
     1e9 + 4,
     1e9 + 16,
     1e9 + 10,
     5.477225575051661,
     1e9 + 10,
     7.5}, // the spread survives a large offset
    {1, {0.25}, 0.25, 0.25, 0.25, (double)NAN, 0.25, 0},
    {5, {0.1, 0.1, 0.1, 0.1, 0.1}, 0.1, 0.1, 0.1, 0, 0.1, 0},
};

enum { NUMPY_CASES = sizeof numpy_cases / sizeof numpy_cases[0] };

START_TEST(summary_agrees_with_numpy) {
    const NumpyCase *want = &numpy_cases[_i];
    double samples[10];
    memcpy(samples, want->samples, sizeof samples);
    LatencyStatistics got;
    ck_assert_int_eq(statistics_summarise(samples, want->n, &got), STATUS_OK);
    ck_assert_int_eq(got.n, want->n);
    check_near(got.min, want->min, "min");
    check_near(got.max, want->max, "max");
    check_near(got.mean, want->mean, "mean");
    check_near(got.stddev, want->stddev, "stddev");
    check_near(got.median, want->median, "median");
    check_near(got.iqr, want->iqr, "iqr");
    ck_assert_mem_eq(samples, want->samples, sizeof samples); // unchanged
}
END_TEST

// n samples 1, 2, ..., n, so that a value is its own rank, scrambled by steps of a prime > n.
static double *ranks(int64_t n) {
    double *samples = malloc((size_t)n * sizeof(double));
    for (int64_t i = 0; i < n; i++) samples[i] = (double)(i * INT64_C(1000003) % n + 1);
    return samples;
}

// P(Binomial(n, p) <= k), summed term by term, in logarithms because the terms may be tiny.
static double binomial_at_most(int64_t k, int64_t n, double p) {
    double sum = 0.0;
    double log_term = (double)n * log1p(-p);
    for (int64_t i = 0; i <= k; i++) {
        sum += exp(log_term);
        log_term += log((double)(n - i) / (double)(i + 1)) + log(p) - log1p(-p);
    }
    return sum;
}

START_TEST(interval_of_the_median_is_the_narrowest_that_reaches_95_percent) {
    for (int64_t n = 1; n < 20000; n = n < 300 ? n + 1 : n * 3 / 2) {
        double *samples = ranks(n);
        LatencyStatistics got;
        ck_assert_int_eq(statistics_summarise(samples, n, &got), STATUS_OK);
        int64_t rank = (int64_t)got.ci95_low;
        ck_assert_int_eq((int64_t)got.ci95_high, n + 1 - rank);
        ck_assert(got.ci95_reached == (n >= 6));
        // Sample r lies above the median when fewer than r samples lie below it.
        double miss = 2.0 * binomial_at_most(rank - 1, n, 0.5);
        double miss_if_narrower = 2.0 * binomial_at_most(rank, n, 0.5);
        if (n >= 6) ck_assert_msg(miss <= 0.05, "n = %d: misses with %g", (int)n, miss);
        ck_assert_msg(miss_if_narrower > 0.05, "n = %d: %g", (int)n, miss_if_narrower);
        if (n < 6) ck_assert_int_eq(rank, 1); // min and max, though they do not reach 95 %
        free(samples);
    }
}
END_TEST

// {n, r} from Python's Fraction and math.comb; those up to 100 are also in statistics textbooks.
START_TEST(interval_ranks_are_those_of_exact_fractions) {
    static const int64_t table[][2] = {{6, 1},    {8, 1},    {9, 2},      {10, 2},
                                       {20, 6},   {25, 8},   {30, 10},    {50, 18},
                                       {100, 40}, {200, 86}, {1000, 469}, {5000, 2431}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        double *samples = ranks(table[i][0]);
        LatencyStatistics got;
        ck_assert_int_eq(statistics_summarise(samples, table[i][0], &got), STATUS_OK);
        ck_assert_int_eq((int64_t)got.ci95_low, table[i][1]);
        free(samples);
    }
}
END_TEST

// ---- Percentiles

START_TEST(samples_needed_follow_from_the_binomial_distribution) {
    static const struct {
        double percent;
        int64_t needed;
    } table[] = {{90.0, 44}, {95.0, 90}, {99.0, 459}, {99.9, 4603}};
    for (size_t i = 0; i < 4; i++) {
        // All n samples lie below the percentile: n successes in n trials of probability p.
        double p = table[i].percent / 100.0;
        int64_t n = 1;
        while (1.0 - binomial_at_most(0, n, 1.0 - p) < 0.99) n++;
        ck_assert_int_eq(n, table[i].needed);
        ck_assert_int_eq(statistics_samples_needed(table[i].percent), n);
    }
    ck_assert_int_eq(statistics_samples_needed(50.0), 1);
    ck_assert_int_gt(statistics_samples_needed(nextafter(100.0, 0.0)), INT64_C(1) << 50);
}
END_TEST

START_TEST(percentiles_are_nearest_ranks_once_there_are_enough_samples) {
    static const struct {
        double percent;
        int64_t thousandths, needed;
    } table[] = {{90.0, 900, 44}, {95.0, 950, 90}, {99.0, 990, 459}, {99.9, 999, 4603}};
    for (size_t i = 0; i < 4; i++) {
        int64_t needed = table[i].needed;
        for (int64_t n = needed - 3; n <= 3 * needed; n += n < needed + 60 ? 1 : 97) {
            double *samples = ranks(n);
            double value = -1.0;
            bool enough = n < needed;
            int64_t missing = -1;
            ck_assert_int_eq(statistics_percentile(samples, n, table[i].percent, &value, &enough,
                                                   &missing),
                             STATUS_OK);
            ck_assert(enough == (n >= needed));
            ck_assert_int_eq(missing, n < needed ? needed - n : 0);
            int64_t rank = (table[i].thousandths * n + 999) / 1000; // ceil, in integers
            ck_assert(enough ? value == (double)rank : isnan(value));
            free(samples);
        }
    }
}
END_TEST

START_TEST(a_percent_that_is_no_double_costs_no_rank) {
    // In floating point, 50.2 * 20500 / 100 comes out just above 10291.
    const int64_t n = 20500;
    double *samples = ranks(n);
    double value = 0.0;
    bool enough = false;
    int64_t missing = 0;
    statistics_percentile(samples, n, 50.2, &value, &enough, &missing);
    ck_assert_int_eq((int64_t)value, 10291);
    free(samples);
}
END_TEST

START_TEST(p50_is_the_median) {
    const double samples[] = {4, 1, 3, 2};
    double value = 0.0;
    bool enough = false;
    int64_t missing = -1;
    ck_assert_int_eq(statistics_percentile(samples, 4, 50.0, &value, &enough, &missing), STATUS_OK);
    ck_assert(value == 2.5 && enough && missing == 0);
}
END_TEST

// ---- Errors

static void check_rejected(const double *samples, int64_t n, Status want, const char *says) {
    LatencyStatistics summary = {.n = -7};
    double value = -7.0;
    bool enough = false;
    int64_t missing = -7;
    ck_assert_int_eq(statistics_summarise(samples, n, &summary), want);
    ck_assert_int_eq(error_status(), want);
    ck_assert_msg(strstr(error_message(), says) != NULL, "%s", error_message());
    ck_assert_ptr_nonnull(strstr(error_message(), " HINT: "));
    error_clear();
    ck_assert_int_eq(statistics_percentile(samples, n, 90.0, &value, &enough, &missing), want);
    error_clear();
    ck_assert(summary.n == -7 && value == -7.0 && missing == -7); // nothing was written
}

START_TEST(bad_samples_are_named_errors) {
    check_rejected(NULL, 0, STATUS_INVALID_ARGUMENT, "no samples");
    check_rejected((const double[]){1.0, 2.0, (double)NAN}, 3, STATUS_NON_FINITE,
                   "sample 2 is nan");
    check_rejected((const double[]){(double)INFINITY}, 1, STATUS_NON_FINITE, "sample 0 is inf");
    check_rejected((const double[]){1.0, -1e-9}, 2, STATUS_INVALID_ARGUMENT, "sample 1 is -1e-09");
}
END_TEST

START_TEST(percentiles_out_of_range_are_errors) {
    const double percents[] = {49.9, 100.0, -1.0, (double)NAN};
    for (int i = 0; i < 4; i++) {
        double sample = 1.0, value = -7.0;
        bool enough = false;
        int64_t missing = 0;
        ck_assert_int_eq(statistics_percentile(&sample, 1, percents[i], &value, &enough, &missing),
                         STATUS_INVALID_ARGUMENT);
        ck_assert(value == -7.0);
        error_clear();
    }
}
END_TEST

START_TEST(running_out_of_memory_is_an_error) {
    double sample = 1.0;
    LatencyStatistics summary;
    memory_fail_at(1);
    ck_assert_int_eq(statistics_summarise(&sample, 1, &summary), STATUS_OUT_OF_MEMORY);
    ck_assert_int_eq(error_status(), STATUS_OUT_OF_MEMORY);
    error_clear();
    ck_assert_int_eq(statistics_summarise(&sample, 1, &summary), STATUS_OK);
}
END_TEST

// Expected values are from numpy.quantile(x, 0.25).
START_TEST(a_quarter_is_below_the_lower_quartile) {
    static const double x[3][4] = {{9, 1, 3, 4}, {1, 2, 3, 4}, {4}};
    static const double want[] = {2.5, 1.75, 4};
    LatencyStatistics s;
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(statistics_summarise(x[i], i < 2 ? 4 : 1, &s), STATUS_OK);
        ck_assert_double_eq(s.lower_quartile, want[i]);
    }
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {summary_agrees_with_numpy, NUMPY_CASES},
        {interval_of_the_median_is_the_narrowest_that_reaches_95_percent, 0},
        {interval_ranks_are_those_of_exact_fractions, 0},
        {samples_needed_follow_from_the_binomial_distribution, 0},
        {percentiles_are_nearest_ranks_once_there_are_enough_samples, 0},
        {a_percent_that_is_no_double_costs_no_rank, 0},
        {p50_is_the_median, 0},
        {bad_samples_are_named_errors, 0},
        {percentiles_out_of_range_are_errors, 0},
        {running_out_of_memory_is_an_error, 0},
        {a_quarter_is_below_the_lower_quartile, 0},
        {NULL, 0},
    };
    return harness_main("statistics", tests);
}
