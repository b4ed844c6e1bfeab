// test_trend.c -- samples that rise or fall are told from noise, and a profile with such samples is
// not steady.
#include <math.h>

#include "profiler/measure/profile.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/planted.h"
#include "tests/helpers/virtual_clock.h"

static double noise_state;
static double noise(double size) { // in [-size, size], the same each run
    noise_state = fmod(noise_state * 16807.0 + 7.0, 2147483647.0);
    return size * (noise_state / 1073741823.5 - 1.0);
}

// Samples are 1 + drift per sample + a jump in the middle + noise.
static const struct {
    const char *what;
    int n;
    double drift, jump, noise;
    bool trend;
} courses[] = {
    {"equal", 200, 0.0, 0.0, 0.0, false},
    {"noise", 200, 0.0, 0.0, 0.1, false},
    {"0.4 % a step", 20, 0.004, 0.0, 0.01, true},
    {"down", 30, -0.004, 0.0, 0.01, true},
    {"too few", 19, 0.01, 0.0, 0.0, false},
    {"certain and small", 200, 0.00005, 0.0, 0.0, false},
    {"a jump", 60, 0.0, 0.1, 0.02, true},
    {"a drift that noise hides", 20, 0.004, 0.0, 1.0, false},
    {"many", 20000, 1e-5, 0.0, 0.3, true},
    {"many without", 20000, 0.0, 0.0, 0.3, false},
};
enum { COURSES = sizeof courses / sizeof courses[0] };

START_TEST(a_trend_is_tested_and_not_eyed) {
    static double samples[20000];
    noise_state = 42.0;
    for (int i = 0; i < courses[_i].n; i++)
        samples[i] = 1.5 + 1.5 * (courses[_i].drift * i + noise(courses[_i].noise) +
                                  (2 * i >= courses[_i].n ? courses[_i].jump : 0.0));
    ck_assert_msg(statistics_trend(samples, courses[_i].n, 0.02) == courses[_i].trend, "%s",
                  courses[_i].what);
}
END_TEST

// Without a tolerance, noise would be called a trend once in a hundred times.
START_TEST(of_noise_one_in_a_hundred_is_a_trend) {
    double samples[50];
    int trends = 0;
    noise_state = 7.0;
    for (int round = 0; round < 4000; round++) {
        for (int i = 0; i < 50; i++) samples[i] = 1.0 + noise(0.5);
        trends += statistics_trend(samples, 50, 0.0);
    }
    ck_assert_msg(trends >= 20 && trends <= 60, "%d of 4000", trends);
}
END_TEST

// A kernel that takes 0.1 % more each time: by its spread alone it would count as steady.
static int64_t calls;
static Status slowing_kernel(const OpCall *call, int64_t begin, int64_t end) {
    (void)call, (void)begin, (void)end;
    virtual_clock_pass(5e-4 * (1.0 + 0.001 * (double)calls++));
    return STATUS_OK;
}

START_TEST(what_goes_up_is_not_steady) {
    Layer *layer = planted_new(slowing_kernel);
    Tensor *x = tensor_full_new(SHAPE(4), 1.0f);
    ProfileOptions options = {.warmup = 2, .iterations = 40};
    Profile profile;
    virtual_clock_begin();
    Status status = profile_inference(layer, x, options, &profile);
    virtual_clock_end();
    ck_assert_msg(!status, "%s", error_message());
    ck_assert(profile.trend && !profile.steady);
    profile_free(&profile);
    tensor_free(x);
    layer_free(layer);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {{a_trend_is_tested_and_not_eyed, COURSES},
                                 {of_noise_one_in_a_hundred_is_a_trend, 0},
                                 {what_goes_up_is_not_steady, 0},
                                 {NULL, 0}};
    return harness_main("trend", tests);
}
