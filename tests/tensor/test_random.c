// test_random.c -- Philox against its published answers, and the draws from its bits against their
// distributions. Seeds are fixed, so no test depends on chance.
#include "tensor/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tensor/philox.h"
#include "tests/helpers/harness.h"

enum { MANY = 200000 };

START_TEST(philox_gives_the_published_answers) { // Random123, tests/kat_vectors, philox4x32 10
    static const struct {
        uint32_t counter[4], key[2], answer[4];
    } known[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    uint32_t words[4];
    memcpy(words, known[_i].counter, sizeof words);
    philox_mix(words, known[_i].key[0], known[_i].key[1]);
    for (int i = 0; i < 4; i++) ck_assert_uint_eq(words[i], known[_i].answer[i]);
}
END_TEST

START_TEST(element_i_is_lane_i_mod_4_of_counter_offset_plus_i_div_4) {
    enum { N = 1000 };
    const uint64_t seed = 0x123456789abcdef0u, offset = 0xfffffff0u; // carries in the middle
    uint32_t bits[N];
    random_bits(seed, offset, 0, N, bits);
    for (uint64_t i = 0; i < N; i++) {
        uint64_t counter = offset + i / 4;
        uint32_t words[4] = {(uint32_t)counter, (uint32_t)(counter >> 32), 0, 0};
        philox_mix(words, 0x9abcdef0u, 0x12345678u);
        ck_assert_uint_eq(bits[i], words[i % 4]);
    }
}
END_TEST

START_TEST(any_slice_equals_its_part_of_the_whole) {
    enum { N = 1500 };
    static uint32_t bits[N], bits_part[N];
    static float uniform[N], normal[N], part[N];
    random_bits(3, 5, 0, N, bits);
    random_uniform(3, 5, 0, N, uniform);
    random_normal(3, 5, 0, N, normal);
    for (int64_t begin = 0; begin < 300; begin += 7) {
        for (int64_t end = begin; end <= N; end += 1 + end / 3) {
            size_t bytes = (size_t)(end - begin) * 4;
            random_bits(3, 5, begin, end, bits_part);
            ck_assert(memcmp(bits_part, bits + begin, bytes) == 0);
            random_uniform(3, 5, begin, end, part);
            ck_assert(memcmp(part, uniform + begin, bytes) == 0);
            random_normal(3, 5, begin, end, part);
            ck_assert(memcmp(part, normal + begin, bytes) == 0);
        }
    }
}
END_TEST

static int compare_floats(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static double uniform_below(double x) { return x; }
static double normal_below(double x) { return 0.5 * erfc(-x * 0.70710678118654752); }

// Kolmogorov and Smirnov: the largest gap between the measured and the expected share of values
// below x, times sqrt(n). By chance it exceeds 1.95 once in a thousand seeds.
static double largest_gap(float *values, int n, double (*share_below)(double)) {
    qsort(values, (size_t)n, sizeof *values, compare_floats);
    double gap = 0;
    for (int i = 0; i < n; i++) {
        double share = share_below((double)values[i]);
        gap = fmax(gap, fmax(share - (double)i / n, (double)(i + 1) / n - share));
    }
    return gap * sqrt(n);
}

// Mean, variance and the correlation of neighbours, each within five standard errors.
static void check_moments(const float *values, double mean, double variance, double fourth) {
    double sum = 0, squares = 0, products = 0;
    for (int i = 0; i < MANY; i++) {
        double x = (double)values[i] - mean;
        sum += x;
        squares += x * x;
        if (i > 0) products += x * ((double)values[i - 1] - mean);
    }
    const double five = 5 / sqrt(MANY);
    ck_assert_double_le(fabs(sum / MANY), five * sqrt(variance));
    ck_assert_double_le(fabs(squares / MANY - variance), five * sqrt(fourth - variance * variance));
    ck_assert_double_le(fabs(products / MANY), five * variance);
}

START_TEST(uniforms_are_uniform) {
    static float values[MANY];
    random_uniform((uint64_t)_i, 0, 0, MANY, values);
    for (int i = 0; i < MANY; i++) ck_assert(values[i] >= 0.0f && values[i] < 1.0f);
    check_moments(values, 0.5, 1.0 / 12, 1.0 / 80);
    ck_assert_double_le(largest_gap(values, MANY, uniform_below), 1.95);
}
END_TEST

START_TEST(normals_are_normal) {
    static float values[MANY];
    random_normal((uint64_t)_i, 0, 0, MANY, values);
    check_moments(values, 0, 1, 3);
    ck_assert_double_le(largest_gap(values, MANY, normal_below), 1.95);
}
END_TEST

START_TEST(normals_are_box_muller_of_the_lane_pairs) {
    static uint32_t bits[MANY];
    static float values[MANY], want[MANY];
    random_bits(11, 0, 0, MANY, bits);
    random_normal(11, 0, 0, MANY, values);
    for (int i = 0; i < MANY; i += 2) {
        double radius = sqrt(-2 * log(((bits[i] >> 8) + 1) * 0x1p-24));
        double angle = 6.283185307179586 * ((bits[i + 1] >> 8) * 0x1p-24);
        want[i] = (float)(radius * cos(angle));
        want[i + 1] = (float)(radius * sin(angle));
    }
    harness_assert_close(values, want, MANY, 1e-9, 4e-7, "normals");
}
END_TEST

START_TEST(the_extreme_words_give_finite_normals) {
    float first[2], last[2];
    philox_normal_pair(0, 0, first);
    philox_normal_pair(0xffffffffu, 0xffffffffu, last);
    const float want[4] = {5.768108f, 0, 0, 0}; // sqrt(2 * 24 ln 2), the largest possible
    harness_assert_close(first, want, 2, 0, 1e-6, "of the smallest words");
    harness_assert_close(last, want + 2, 2, 0, 0, "of the largest words");
}
END_TEST

START_TEST(a_reservation_takes_a_counter_for_every_four) {
    RandomState state = {.seed = 1, .offset = 10};
    ck_assert_uint_eq(random_reserve(&state, 0), 10);
    ck_assert_uint_eq(random_reserve(&state, 1), 10);
    ck_assert_uint_eq(random_reserve(&state, 4), 11);
    ck_assert_uint_eq(random_reserve(&state, 5), 12);
    ck_assert_uint_eq(state.offset, 14);
}
END_TEST

START_TEST(single_numbers_advance_the_state) {
    RandomState state = {.seed = 9}, again = {.seed = 9};
    uint32_t first = random_next(&state);
    ck_assert_uint_ne(first, random_next(&state));
    ck_assert_uint_eq(first, random_next(&again));
    for (int i = 0; i < 1000; i++) {
        float x = random_next_uniform(&state);
        ck_assert(x >= 0.0f && x < 1.0f);
    }
}
END_TEST

START_TEST(below_n_is_in_range_and_even) {
    enum { N = 7, DRAWS = 70000 };
    RandomState state = {.seed = 5};
    ck_assert_int_eq(random_next_below(&state, 1), 0);
    int count[N] = {0};
    for (int i = 0; i < DRAWS; i++) {
        int64_t value = random_next_below(&state, N);
        ck_assert(value >= 0 && value < N);
        count[value]++;
    }
    double chi_square = 0;
    for (int i = 0; i < N; i++) chi_square += pow(count[i] - DRAWS / N, 2) / (DRAWS / N);
    ck_assert_double_le(chi_square, 22.5); // 6 degrees of freedom: once in a thousand seeds

    // A bare remainder would favour the lower two thirds here: 3/4 of the draws instead of 2/3.
    int low = 0;
    for (int i = 0; i < DRAWS; i++) low += random_next_below(&state, 3 * (1LL << 61)) < 1LL << 62;
    ck_assert_double_eq_tol((double)low / DRAWS, 2.0 / 3, 0.01);
}
END_TEST

START_TEST(a_shuffle_is_a_permutation) {
    enum { N = 1000 };
    int64_t items[N];
    bool seen[N] = {false};
    for (int i = 0; i < N; i++) items[i] = i;
    RandomState state = {.seed = 6};
    random_shuffle(&state, items, N);
    int moved = 0;
    for (int i = 0; i < N; i++) {
        ck_assert(items[i] >= 0 && items[i] < N && !seen[items[i]]);
        seen[items[i]] = true;
        moved += items[i] != i;
    }
    ck_assert_int_gt(moved, N - 20); // on average one stays in place
    random_shuffle(&state, items, 0);
}
END_TEST

START_TEST(every_order_is_equally_likely) {
    int count[27] = {0};
    RandomState state = {.seed = 7};
    for (int i = 0; i < 12000; i++) {
        int64_t items[3] = {0, 1, 2};
        random_shuffle(&state, items, 3);
        count[items[0] * 9 + items[1] * 3 + items[2]]++;
    }
    int orders = 0;
    for (int i = 0; i < 27; i++) {
        if (count[i] == 0) continue;
        orders++;
        ck_assert_int_ge(count[i], 2000 - 200); // five standard deviations
        ck_assert_int_le(count[i], 2000 + 200);
    }
    ck_assert_int_eq(orders, 6);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {philox_gives_the_published_answers, 3},
        {element_i_is_lane_i_mod_4_of_counter_offset_plus_i_div_4, 0},
        {any_slice_equals_its_part_of_the_whole, 0},
        {uniforms_are_uniform, 4},
        {normals_are_normal, 4},
        {normals_are_box_muller_of_the_lane_pairs, 0},
        {the_extreme_words_give_finite_normals, 0},
        {a_reservation_takes_a_counter_for_every_four, 0},
        {single_numbers_advance_the_state, 0},
        {below_n_is_in_range_and_even, 0},
        {a_shuffle_is_a_permutation, 0},
        {every_order_is_equally_likely, 0},
        {NULL, 0},
    };
    return harness_main("random", tests);
}
