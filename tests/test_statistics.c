// test_statistics.c -- the figures of a report: profiler/statistics against numpy and the exact
// binomial distribution, and profiler/text, which writes them for a terminal.
#include "profiler/statistics.h"
#include "profiler/text.h"
#include "tensor/memory.h"
#include "tests/harness.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void check_near(double got, double want, const char *what) {
    if (isnan(want) && isnan(got)) return;
    ck_assert_msg(fabs(got - want) <= 1e-14 * fabs(want), "%s is %.17g instead of %.17g", what, got,
                  want);
}

// ---- Summaries

typedef struct NumpyCase { // n, samples, then what numpy 2.4 says (std with ddof=1)
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
    ck_assert_mem_eq(samples, want->samples, sizeof samples); // left as they were
}
END_TEST

// n samples 1, 2, ..., n, so that a value is its own rank, scrambled by steps of a prime > n.
static double *ranks(int64_t n) {
    double *samples = malloc((size_t)n * sizeof(double));
    for (int64_t i = 0; i < n; i++) samples[i] = (double)(i * INT64_C(1000003) % n + 1);
    return samples;
}

// P(Binomial(n, p) <= k), summed term by term; in logarithms, for the terms may be tiny.
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
        if (n < 6) ck_assert_int_eq(rank, 1); // min and max, though they do not reach it
        free(samples);
    }
}
END_TEST

// {n, r} from Python's Fraction and math.comb; those up to 100 are in statistics textbooks too.
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
        // All n samples lie below the percentile: n successes of n, of probability p each.
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

// ---- Text

static const double not_a_number = (double)NAN;
static const double infinite = (double)INFINITY;

START_TEST(counts_have_thousands_separators) {
    ck_assert_str_eq(text_count(0).s, "0");
    ck_assert_str_eq(text_count(999).s, "999");
    ck_assert_str_eq(text_count(1000).s, "1,000");
    ck_assert_str_eq(text_count(535818).s, "535,818");
    ck_assert_str_eq(text_count(-1234567).s, "-1,234,567");
    ck_assert_str_eq(text_count(-100).s, "-100");
    ck_assert_str_eq(text_count(INT64_MAX).s, "9,223,372,036,854,775,807");
    ck_assert_str_eq(text_count(INT64_MIN).s, "-9,223,372,036,854,775,808");
}
END_TEST

START_TEST(numbers_have_two_decimals_at_most) {
    ck_assert_str_eq(text_number(160.7).s, "160.7");
    ck_assert_str_eq(text_number(6.43).s, "6.43");
    ck_assert_str_eq(text_number(0.07).s, "0.07");
    ck_assert_str_eq(text_number(0.0).s, "0");
    ck_assert_str_eq(text_number(-0.0).s, "0");
    ck_assert_str_eq(text_number(1e-9).s, "<0.01");
    ck_assert_str_eq(text_number(-1e-9).s, ">-0.01");
    ck_assert_str_eq(text_number(9.996).s, "10.0");
    ck_assert_str_eq(text_number(999.96).s, "1,000");
    ck_assert_str_eq(text_number(-50.44).s, "-50.4");
    ck_assert_str_eq(text_number(30940528.6).s, "30,940,529");
    ck_assert_str_eq(text_number(1.2e16).s, "1.2e+16");
    ck_assert_str_eq(text_number(DBL_MAX).s, "1.8e+308");
    ck_assert_str_eq(text_number(not_a_number).s, "-");
    ck_assert_str_eq(text_number(infinite).s, "inf");
}
END_TEST

START_TEST(durations_choose_their_unit) {
    ck_assert_str_eq(text_duration(248e-6).s, "248 us");
    ck_assert_str_eq(text_duration(1.06e-3).s, "1.06 ms");
    ck_assert_str_eq(text_duration(2.31).s, "2.31 s");
    ck_assert_str_eq(text_duration(84e-9).s, "84.0 ns");
    ck_assert_str_eq(text_duration(0.0).s, "0 s");
    ck_assert_str_eq(text_duration(1e-15).s, "<0.01 ns");
    ck_assert_str_eq(text_duration(999.4e-6).s, "999 us");
    ck_assert_str_eq(text_duration(999.6e-6).s, "1.00 ms");
    ck_assert_str_eq(text_duration(9.996e-3).s, "10.0 ms");
    ck_assert_str_eq(text_duration(99.96e-3).s, "100 ms");
    ck_assert_str_eq(text_duration(1000.0).s, "16.7 min");
    ck_assert_str_eq(text_duration(86400.0).s, "24.0 h");
    ck_assert_str_eq(text_duration(1e30).s, "2.78e+26 h");
    ck_assert_str_eq(text_duration(-0.16e-3).s, "-160 us");
    ck_assert_str_eq(text_duration(not_a_number).s, "-");
    ck_assert_str_eq(text_duration(-infinite).s, "-inf");
}
END_TEST

START_TEST(durations_keep_a_given_unit) {
    ck_assert_str_eq(text_duration_in(1.06e-3, "us").s, "1060");
    ck_assert_str_eq(text_duration_in(2.2e-6, "us").s, "2.20");
    ck_assert_str_eq(text_duration_in(0.34e-3, "ms").s, "0.34");
    ck_assert_str_eq(text_duration_in(84e-6, "us").s, "84.0");
    ck_assert_str_eq(text_duration_in(1e-6, "h").s, "<0.01");
    ck_assert_str_eq(text_duration_in(not_a_number, "us").s, "-");
}
END_TEST

START_TEST(rates_and_bytes_have_decimal_prefixes) {
    ck_assert_str_eq(text_rate(333e9, "FLOP/s").s, "333 GFLOP/s");
    ck_assert_str_eq(text_rate(58e9, "B/s").s, "58.0 GB/s");
    ck_assert_str_eq(text_rate(999.6e9, "B/s").s, "1.00 TB/s");
    ck_assert_str_eq(text_rate(0.5, "steps/s").s, "0.50 steps/s");
    ck_assert_str_eq(text_rate(0.0, "B/s").s, "0 B/s");
    ck_assert_str_eq(text_rate(1e40, "B/s").s, "1e+22 EB/s");
    ck_assert_str_eq(text_rate(not_a_number, "B/s").s, "-");
    ck_assert_str_eq(text_bytes_si(9167520).s, "9.17 MB");
    ck_assert_str_eq(text_bytes_si(840).s, "840 B");
    ck_assert_str_eq(text_bytes_si(5).s, "5 B");
    ck_assert_str_eq(text_bytes_si(0).s, "0 B");
    ck_assert_str_eq(text_bytes_si(999).s, "999 B");
    ck_assert_str_eq(text_bytes_si(1000).s, "1.00 kB");
    ck_assert_str_eq(text_bytes_si(999499).s, "999 kB");
    ck_assert_str_eq(text_bytes_si(999500).s, "1.00 MB");
    ck_assert_str_eq(text_bytes_si(-4300000).s, "-4.30 MB");
    ck_assert_str_eq(text_bytes_si(INT64_MIN).s, "-9.22 EB");
}
END_TEST

START_TEST(percents_fit_four_columns) {
    ck_assert_str_eq(text_percent(0.46).s, "46%");
    ck_assert_str_eq(text_percent(0.005).s, "0.5%");
    ck_assert_str_eq(text_percent(0.0001).s, "<1%");
    ck_assert_str_eq(text_percent(-0.0001).s, ">-1%");
    ck_assert_str_eq(text_percent(0.0).s, "0%");
    ck_assert_str_eq(text_percent(0.0096).s, "1%");
    ck_assert_str_eq(text_percent(0.996).s, "100%");
    ck_assert_str_eq(text_percent(-0.27).s, "-27%");
    ck_assert_str_eq(text_percent(12.5).s, "1250%");
    ck_assert_str_eq(text_percent(1e300).s, "1e+302%");
    ck_assert_str_eq(text_percent(not_a_number).s, "-");
    int widest = 0;
    for (int i = 0; i <= 100000; i++) {
        int width = text_width(text_percent(i * 1e-5).s);
        widest = width > widest ? width : widest;
    }
    ck_assert_int_eq(widest, 4);
}
END_TEST

START_TEST(bars_stay_within_their_width) {
    ck_assert_str_eq(text_bar(0.46, 10).s, "#####");
    ck_assert_str_eq(text_bar(0.02, 10).s, "");
    ck_assert_str_eq(text_bar(7.0, 3).s, "###");
    ck_assert_str_eq(text_bar(-1.0, 10).s, "");
    ck_assert_str_eq(text_bar(1.0, -1).s, "");
    ck_assert_str_eq(text_bar(not_a_number, 10).s, "");
    ck_assert_str_eq(text_bar(infinite, 2).s, "##");
    ck_assert_uint_eq(strlen(text_bar(1.0, 1000).s), 127);
}
END_TEST

START_TEST(padding_counts_code_points) {
    ck_assert_str_eq(text_pad_left("7", 3).s, "  7");
    ck_assert_str_eq(text_pad_right("fc1", 5).s, "fc1  ");
    ck_assert_str_eq(text_pad_right("caf\xC3\xA9", 6).s, "caf\xC3\xA9  ");
    ck_assert_str_eq(text_pad_left("\xF0\x9F\x98\x80", 3).s, "  \xF0\x9F\x98\x80");
    ck_assert_str_eq(text_pad_left("longer", 3).s, "longer");
    ck_assert_str_eq(text_pad_right("", 0).s, "");
    ck_assert_str_eq(text_pad_right("x", -5).s, "x");
    ck_assert_uint_eq(strlen(text_pad_left("x", 1000).s), 127);
    char text[200] = {0}; // 66 times a sequence of three bytes: only 42 fit
    for (int i = 0; i < 66; i++) memcpy(text + 3 * i, "\xE2\x82\xAC", 3);
    ck_assert_uint_eq(strlen(text_pad_right(text, 10).s), 126);
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
        {counts_have_thousands_separators, 0},
        {numbers_have_two_decimals_at_most, 0},
        {durations_choose_their_unit, 0},
        {durations_keep_a_given_unit, 0},
        {rates_and_bytes_have_decimal_prefixes, 0},
        {percents_fit_four_columns, 0},
        {bars_stay_within_their_width, 0},
        {padding_counts_code_points, 0},
        {NULL, 0},
    };
    return harness_main("statistics", tests);
}
