// test_leak.c -- memory over steps: the line against SciPy's, and the decision on leaks.
// test_leak_sites.c tests the named sites.
#include "profiler/record/leak.h"
#include "tests/fixtures/leak.h"
#include "tests/helpers/expect.h"

static Tensor *bytes_new(int64_t bytes, MemoryCategory category) {
    Tensor *t = tensor_new_as(SHAPE(bytes), DTYPE_UINT8, category);
    ck_assert_msg(t != NULL, "%s", error_message());
    return t;
}

static LeakReport report_of(const LeakTest *test) {
    LeakReport report;
    ck_assert_msg(!leak_report(test, &report), "%s", error_message());
    ck_assert(report.low <= report.bytes_per_step && report.bytes_per_step <= report.high);
    return report;
}

// Runs steps after which `live` bytes are live: on meta, so that any number is possible.
static LeakReport watch_live(const int64_t *live, int64_t steps) {
    context_set_device(device_meta());
    LeakTest *test = leak_new(steps);
    Tensor *held = NULL;
    leak_start(test);
    for (int64_t i = 0; i < steps; i++) {
        tensor_free(held);
        held = bytes_new(live[i], MEM_ACTIVATION);
        leak_step(test);
    }
    leak_stop(test);
    tensor_free(held);
    LeakReport report = report_of(test);
    ck_assert_int_eq(report.steps, steps);
    leak_free(test);
    return report;
}

// ---- the line --------------------------------------------------------------------------------
START_TEST(the_line_and_its_interval_are_scipys) {
    for (size_t i = 0; i < sizeof(fitted_lines) / sizeof(fitted_lines[0]); i++) {
        LeakReport report = watch_live(fitted_lines[i].live, fitted_lines[i].n);
        double width = fitted_lines[i].high - fitted_lines[i].low;
        ck_assert_double_eq_tol(report.bytes_per_step, fitted_lines[i].slope, 1e-8);
        ck_assert_double_eq_tol(report.low, fitted_lines[i].low, 2e-6 * width);
        ck_assert_double_eq_tol(report.high, fitted_lines[i].high, 2e-6 * width);
    }
}
END_TEST

START_TEST(equal_rises_are_the_slope_without_width_and_none_are_none) {
    const int64_t rises[] = {0, 1, 7, 12345, -7, (int64_t)1 << 40};
    for (size_t r = 0; r < sizeof(rises) / sizeof(rises[0]); r++) {
        for (int64_t n = 3; n <= 100; n++) {
            int64_t live[100];
            for (int64_t i = 0; i < n; i++) live[i] = 1001 + rises[r] * i;
            LeakReport report = watch_live(live, n);
            ck_assert(report.bytes_per_step == (double)rises[r]);
            ck_assert(report.low == (double)rises[r] && report.high == (double)rises[r]);
            ck_assert_int_eq(report.leaks, rises[r] > 0);
        }
    }
}
END_TEST

// ---- leaks and others ------------------------------------------------------------------------
static int64_t noise(int64_t i) {
    RandomState random = {.seed = 77 + (uint64_t)i};
    return random_next_below(&random, 2001);
}
static int64_t tooth_of_7(int64_t i) { return 500 * (i % 7); }
static int64_t alternating(int64_t i) { return i % 2 * 5000; }
static int64_t saturating(int64_t i) { return 300 * (i < 20 ? i : 20); }
static int64_t flushed_at_the_end(int64_t i) { return i < 59 ? 100 * i : 0; }
static int64_t staircase(int64_t i) { return 4096 * (i / 5); }
static int64_t rising_and_alternating(int64_t i) { return 200 * i + alternating(i); }
static int64_t rising_in_noise(int64_t i) { return 100 * i + noise(i); }
static int64_t falling_in_noise(int64_t i) { return 10000 - 100 * i + noise(i); }

static const struct {
    const char *name;
    int64_t (*live)(int64_t step);
    bool leaks;
} courses[] = {
    {"noise", noise, false},
    {"a tooth of 7", tooth_of_7, false},
    {"alternating", alternating, false},
    {"saturating", saturating, false},
    {"flushed at the end", flushed_at_the_end, false},
    {"falling in noise", falling_in_noise, false},
    {"staircase", staircase, true},
    {"rising and alternating", rising_and_alternating, true},
    {"rising in noise", rising_in_noise, true},
};

START_TEST(what_goes_on_is_a_leak_and_what_comes_back_is_none) {
    int64_t live[60];
    for (size_t c = 0; c < sizeof(courses) / sizeof(courses[0]); c++) {
        for (int64_t i = 0; i < 60; i++) live[i] = 1000 + courses[c].live(i);
        LeakReport report = watch_live(live, 60);
        ck_assert_msg(report.leaks == courses[c].leaks, "%s: %g B per step, %g to %g",
                      courses[c].name, report.bytes_per_step, report.low, report.high);
    }
}
END_TEST

START_TEST(a_single_rise_is_none_wherever_it_comes) {
    int64_t live[40];
    for (int64_t n = 3; n <= 40; n++)
        for (int64_t at = 1; at < n; at++) {
            for (int64_t i = 0; i < n; i++) live[i] = i < at ? 1000 : 9000;
            ck_assert_msg(!watch_live(live, n).leaks, "%lld steps, at %lld", (long long)n,
                          (long long)at);
        }
}
END_TEST

// The number of steps need not be a multiple of the period, nor the period begin with the test.
START_TEST(a_tooth_is_none_once_the_steps_are_as_many_as_two) {
    int64_t live[60];
    for (int64_t period = 2; period <= 20; period++)
        for (int64_t n = 2 * period < 3 ? 3 : 2 * period; n <= 3 * period; n++)
            for (int64_t from = 0; from < period; from++) {
                for (int64_t i = 0; i < n; i++) live[i] = 1000 + (from + i) % period * 64;
                ck_assert_msg(!watch_live(live, n).leaks, "period %lld from %lld, %lld steps",
                              (long long)period, (long long)from, (long long)n);
            }
}
END_TEST

START_TEST(noise_alone_is_hardly_ever_taken_for_one) {
    int64_t live[60], found = 0;
    for (uint64_t seed = 0; seed < 1000; seed++) {
        RandomState random = {.seed = seed};
        int64_t n = 3 + random_next_below(&random, 58);
        for (int64_t i = 0; i < n; i++) live[i] = 1000 + random_next_below(&random, 5000);
        found += watch_live(live, n).leaks;
    }
    ck_assert_int_le(found, 25); // of 1000: 2.5 % lie beyond that end
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {the_line_and_its_interval_are_scipys, 0},
        {equal_rises_are_the_slope_without_width_and_none_are_none, 0},
        {what_goes_on_is_a_leak_and_what_comes_back_is_none, 0},
        {a_single_rise_is_none_wherever_it_comes, 0},
        {a_tooth_is_none_once_the_steps_are_as_many_as_two, 0},
        {noise_alone_is_hardly_ever_taken_for_one, 0},
        {NULL, 0},
    };
    return harness_main("leak", tests);
}
