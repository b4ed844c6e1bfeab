// test_ratio.c -- ratios of times: ranks against scipy's exact distribution, estimates against all
// pairs by hand, intervals against many planted experiments.
#include <math.h>
#include <stdlib.h>

#include "profiler/measure/ratio.h"
#include "tensor/memory.h"
#include "tests/helpers/expect.h"

// k by scipy 1.17.1: the largest for which mannwhitneyu(..., alternative='less',
// method='exact').pvalue of samples with U = k - 1 is at most half of 1 - confidence (k at least
// 1); `reached` is the interval's actual confidence.
typedef struct RankCase {
    int n, m;
    double confidence;
    int k;
    double reached;
} RankCase;

static const RankCase ranks[] = {
    {1, 1, 0.95, 1, 0},
    {3, 3, 0.95, 1, 0.9},
    {4, 4, 0.95, 1, 0.971428571429},
    {5, 5, 0.95, 3, 0.968253968254},
    {5, 5, 0.99, 1, 0.992063492063},
    {5, 5, 0.998, 1, 0.992063492063},
    {5, 10, 0.95, 9, 0.96003996004},
    {10, 10, 0.95, 24, 0.956742947455},
    {10, 10, 0.9975, 12, 0.997910757973},
    {20, 20, 0.95, 128, 0.950909674811},
    {20, 20, 0.9975, 91, 0.997606466504},
    {7, 13, 0.9, 25, 0.903199174407},
    {25, 25, 0.95, 212, 0.950574926775},
    {1, 49, 0.95, 1, 0.96},
};
enum { RANKS = sizeof ranks / sizeof ranks[0], MOST = 60 };

static int compare(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double draw(void) { return (double)random() / (double)RAND_MAX; }

START_TEST(ends_are_the_pairs_of_scipy_s_rank) {
    const RankCase *want = &ranks[_i];
    double before[MOST], after[MOST], pairs[MOST * MOST];
    int all = want->n * want->m;
    srandom(1);
    for (int i = 0; i < want->n; i++) before[i] = 1.0 + draw();
    for (int i = 0; i < want->m; i++) after[i] = 1.0 + draw();
    for (int i = 0; i < all; i++) pairs[i] = after[i / want->n] / before[i % want->n];
    qsort(pairs, (size_t)all, sizeof(double), compare);
    Ratio ratio;
    ck_assert_int_eq(ratio_find(before, want->n, after, want->m, want->confidence, &ratio), 0);
    ck_assert_double_eq(ratio.low, pairs[want->k - 1]);
    ck_assert_double_eq(ratio.high, pairs[all - want->k]);
    ck_assert_double_eq_tol(ratio.confidence, want->reached, 1e-11);
    ck_assert_int_eq(ratio.reached, want->reached >= want->confidence);
    double middle = sqrt(pairs[(all - 1) / 2] * pairs[all / 2]);
    ck_assert_double_eq_tol(ratio.estimate, middle, 1e-15);
}
END_TEST

START_TEST(swapping_the_two_turns_the_ratio_over) {
    const double a[] = {3.0, 1.0, 2.0, 8.0, 5.0}, b[] = {4.0, 4.5, 9.0, 10.0, 7.0, 6.0};
    Ratio there, back;
    ck_assert_int_eq(ratio_find(a, 5, b, 6, 0.95, &there), 0);
    ck_assert_int_eq(ratio_find(b, 6, a, 5, 0.95, &back), 0);
    ck_assert_double_eq_tol(there.estimate * back.estimate, 1.0, 1e-15);
    ck_assert_double_eq_tol(there.low * back.high, 1.0, 1e-15);
    ck_assert_double_eq_tol(there.high * back.low, 1.0, 1e-15);
    ck_assert_double_eq(there.confidence, back.confidence);
}
END_TEST

START_TEST(equal_times_are_no_change_at_all) {
    const double a[] = {2.0, 2.0, 2.0, 2.0, 2.0};
    Ratio ratio;
    ck_assert_int_eq(ratio_find(a, 5, a, 5, 0.95, &ratio), 0);
    ck_assert_double_eq(ratio.estimate, 1.0);
    ck_assert(ratio.low == 1.0 && ratio.high == 1.0);
}
END_TEST

// Skewed samples, with outliers, and more than are counted exactly: the interval holds the ratio at
// least as often as it claims.
START_TEST(intervals_hold_the_planted_ratio_as_often_as_they_say) {
    static const int sizes[] = {5, 20, 30};
    enum { TRIES = 2000 };
    int n = sizes[_i], held = 0;
    double before[MOST], after[MOST];
    srandom(7);
    for (int t = 0; t < TRIES; t++) {
        for (int i = 0; i < n; i++) {
            double late = draw() < 0.2 ? 3.0 * draw() : 0.0;
            before[i] = exp(0.05 * draw() + late);
            late = draw() < 0.2 ? 3.0 * draw() : 0.0;
            after[i] = 1.2 * exp(0.05 * draw() + late);
        }
        Ratio ratio;
        ck_assert_int_eq(ratio_find(before, n, after, n, 0.95, &ratio), 0);
        ck_assert(ratio.low <= ratio.estimate && ratio.estimate <= ratio.high);
        held += ratio.low <= 1.2 && 1.2 <= ratio.high;
    }
    ck_assert_msg(held >= 0.94 * TRIES && held <= 0.99 * TRIES, "%d: %d of %d", n, held, TRIES);
}
END_TEST

// The normal approximation continues where exact counting ends.
START_TEST(many_times_go_on_where_few_end) {
    double times[RATIO_MOST];
    srandom(3);
    for (int i = 0; i < RATIO_MOST; i++) times[i] = 1.0 + draw();
    Ratio few, more, most;
    ck_assert_int_eq(ratio_find(times, 25, times + 100, 25, 0.95, &few), 0);
    ck_assert_int_eq(ratio_find(times, 26, times + 100, 25, 0.95, &more), 0);
    ck_assert_double_eq_tol(more.confidence, few.confidence, 2e-3);
    ck_assert_int_eq(ratio_find(times, RATIO_MOST, times, RATIO_MOST, 0.999, &most), 0);
    ck_assert(most.reached && most.confidence < 0.9991 && most.low < 1.0 && most.high > 1.0);
}
END_TEST

START_TEST(what_is_no_time_is_refused) {
    const double bad[][1] = {{0.0}, {-1.0}, {(double)NAN}, {(double)INFINITY}};
    const double good[] = {1.0};
    Ratio ratio = {.estimate = 42.0};
    for (int i = 0; i < 4; i++) {
        ratio_find(bad[i], 1, good, 1, 0.95, &ratio);
        expect_error(STATUS_INVALID_ARGUMENT, "time 0");
        ratio_find(good, 1, bad[i], 1, 0.95, &ratio);
        expect_error(STATUS_INVALID_ARGUMENT, "time 0");
    }
    ratio_find(good, 0, good, 1, 0.95, &ratio);
    expect_error(STATUS_INVALID_ARGUMENT, "0 times");
    ratio_find(good, 1, good, RATIO_MOST + 1, 0.95, &ratio);
    expect_error(STATUS_INVALID_ARGUMENT, "1001 times");
    memory_fail_at(1);
    ratio_find(good, 1, good, 1, 0.95, &ratio);
    memory_fail_at(0);
    expect_error(STATUS_OUT_OF_MEMORY, "no room");
    ck_assert_double_eq(ratio.estimate, 42.0);
}
END_TEST

// ---- pairs -------------------------------------------------------------------------------------
// As above, by scipy's wilcoxon(..., alternative='less', method='exact').
static const RankCase signs[] = {
    {1, 1, 0.95, 1, 0},
    {5, 5, 0.95, 1, 0.9375},
    {6, 6, 0.95, 1, 0.96875},
    {10, 10, 0.95, 9, 0.951171875},
    {10, 10, 0.998, 1, 0.998046875},
    {10, 10, 0.9985, 1, 0.998046875},
    {15, 15, 0.9985, 8, 0.998840332031},
    {20, 20, 0.95, 53, 0.951559066772},
    {30, 30, 0.9985, 84, 0.998542523012},
    {50, 50, 0.95, 435, 0.950553593199},
};
enum { SIGNS = sizeof signs / sizeof signs[0] };

START_TEST(ends_are_the_means_of_scipy_s_signed_rank) {
    const RankCase *want = &signs[_i];
    double before[MOST], after[MOST], means[MOST * MOST];
    int all = 0;
    srandom(2);
    for (int i = 0; i < want->n; i++) before[i] = 1.0 + draw(), after[i] = 1.0 + draw();
    for (int i = 0; i < want->n; i++)
        for (int k = i; k < want->n; k++)
            means[all++] = sqrt(after[i] / before[i] * (after[k] / before[k]));
    qsort(means, (size_t)all, sizeof(double), compare);
    Ratio ratio;
    ck_assert_int_eq(ratio_find_paired(before, after, want->n, want->confidence, &ratio), 0);
    ck_assert_double_eq_tol(ratio.low, means[want->k - 1], 1e-12);
    ck_assert_double_eq_tol(ratio.high, means[all - want->k], 1e-12);
    ck_assert_double_eq_tol(ratio.confidence, want->reached, 1e-11);
    ck_assert_int_eq(ratio.reached, want->reached >= want->confidence);
}
END_TEST

// Pairs do not notice a machine that takes twice as long for some of them; for many pairs the
// normal approximation agrees.
START_TEST(what_lasts_for_some_pairs_is_in_both) {
    double before[100], after[100];
    Ratio paired, apart;
    srandom(3);
    for (int n = 20; n <= 100; n += 80) {
        for (int i = 0; i < n; i++) {
            double machine = i % 7 < 3 ? 2.0 : 1.0;
            before[i] = machine * (1.0 + 0.01 * draw());
            after[i] = 1.1 * machine * (1.0 + 0.01 * draw());
        }
        ck_assert_int_eq(ratio_find_paired(before, after, n, 0.999, &paired), STATUS_OK);
        ck_assert_int_eq(ratio_find(before, n, after, n, 0.999, &apart), STATUS_OK);
        ck_assert(paired.low > 1.09 && paired.high < 1.11 && paired.reached);
        ck_assert(n > 20 || (apart.low < 1.0 && apart.high > 1.2));
    }
    before[0] = -1.0;
    ck_assert_int_eq(ratio_find_paired(before, after, 10, 0.95, &paired), STATUS_INVALID_ARGUMENT);
    error_clear();
    ck_assert_int_eq(ratio_find_paired(before + 1, after, 0, 0.95, &paired),
                     STATUS_INVALID_ARGUMENT);
    error_clear();
    memory_fail_at(1);
    ck_assert_int_eq(ratio_find_paired(before + 1, after, 9, 0.95, &paired), STATUS_OUT_OF_MEMORY);
    memory_fail_at(0);
    error_clear();
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {ends_are_the_pairs_of_scipy_s_rank, RANKS},
        {swapping_the_two_turns_the_ratio_over, 0},
        {equal_times_are_no_change_at_all, 0},
        {intervals_hold_the_planted_ratio_as_often_as_they_say, 3},
        {many_times_go_on_where_few_end, 0},
        {what_is_no_time_is_refused, 0},
        {ends_are_the_means_of_scipy_s_signed_rank, SIGNS},
        {what_lasts_for_some_pairs_is_in_both, 0},
        {NULL, 0},
    };
    return harness_main("ratio", tests);
}
