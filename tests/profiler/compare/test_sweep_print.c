// test_sweep_print.c -- the print of a sweep: rows, marks, a picture, a line; in 80 columns
// whatever the axes.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/compare/sweep.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/harness.h"
#include "tests/helpers/run_program.h"
#include "tests/profiler/compare/planted_sweep.h"

#define AXES(...) ((const char *const[]){__VA_ARGS__, NULL})

static char *printed(Sweep *sweep) { // frees the sweep; free the result
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    ck_assert_int_eq(sweep_judge(sweep), STATUS_OK);
    sweep_print(sweep, file);
    fclose(file);
    sweep_free(sweep);
    program_check_columns(text);
    return text;
}

static void expect_part(Sweep *sweep, const char *part) {
    char *text = printed(sweep);
    ck_assert_msg(strstr(text, part) != NULL, "no %s in\n%s", part, text);
    free(text);
}

START_TEST(all_of_a_small_one) {
    Sweep sweep = planted_sweep(AXES("batch=1,4,16,64"), 4e-3, 1e-3);
    sweep.points[3].state = SWEEP_FAILED;
    char *text = printed(&sweep);
    ck_assert_str_eq(
        text, "SWEEP  4 points\n"
              "    batch          step   +-   samples/s     peak     FLOP\n"
              "  a 1           5.00 ms   1%         200  1.10 kB    5,000 *\n"
              "  b 4           8.00 ms   1%         500  1.40 kB   20,000 * knee\n"
              "  c 16          20.0 ms   1%         800  2.60 kB   80,000 *\n"
              "  d 64                                                     failed\n"
              "  * no other is at least as good in latency, throughput and memory; knee: the\n"
              "  most throughput for its latency; --max-latency and --max-memory ask for the\n"
              "  best within them\n"
              "\n"
              "  samples/s\n"
              "      800 +                                                                 c\n"
              "          |\n"
              "          |\n"
              "          |\n"
              "          |                      b\n"
              "          |\n"
              "          |\n"
              "          |\n"
              "          |\n"
              "          |\n"
              "          |\n"
              "      200 +a\n"
              "          +5.00 ms                        a step                      20.0 ms\n"
              "\n"
              "  a step takes 4.00 ms + 1.00 ms x batch from batch 1 on, within 1% where each\n"
              "    is foretold from the others; batch 2 would take 6.00 ms\n");
    free(text);
}
END_TEST

START_TEST(limits_have_a_best) {
    Sweep sweep = planted_sweep(AXES("batch=1,4,16"), 4e-3, 1e-3);
    sweep.limits.seconds = 0.009;
    expect_part(&sweep, " * over\n");
    sweep = planted_sweep(AXES("batch=1,4,16"), 4e-3, 1e-3);
    sweep.limits.seconds = 1e-9;
    expect_part(&sweep, "over: beyond --max-latency or --max-memory, as all are\n");
}
END_TEST

START_TEST(trainings_have_columns_of_their_own) {
    Sweep sweep = planted_sweep(AXES("lr=0.1,10"), 4e-3, 1e-3);
    sweep.learns = true;
    planted_training(&sweep.points[0], 0.25, 0.9);
    expect_part(&sweep, "target: a loss of 0.2500, which half");
}
END_TEST

START_TEST(what_ran_nowhere_has_counts_only) {
    Sweep sweep = planted_sweep(AXES("batch=1,4"), 4e-3, 1e-3);
    for (int i = 0; i < 2; i++) sweep.points[i].seconds = sweep.points[i].high = 0.0;
    char *text = printed(&sweep);
    ck_assert_str_eq(text, "SWEEP  2 points\n"
                           "    batch          peak     FLOP\n"
                           "  a 1           1.10 kB    5,000\n"
                           "  b 4           1.40 kB   20,000\n");
    free(text);
}
END_TEST

// One to four axes with long values, trained or not.
START_TEST(it_is_80_columns_wide) {
    static const char *const wide[] = {
        "model=a/very/long/path/to/a/network.onnx,another/very/long/path/to/a/network.onnx",
        "batch=1,10,100,1000,10000,1000000", "recompute=none,layers.10.attention.*", "threads=1,64",
        NULL};
    int n = _i % 4 + 1;
    Sweep sweep = planted_sweep(wide + 4 - n, 123.456, 1e3);
    ck_assert_int_eq(sweep.n_axes, n);
    if (_i >= 4) {
        sweep.learns = true;
        for (int64_t i = 0; i < sweep.n; i++) planted_training(&sweep.points[i], 123.456, 0.99999);
        sweep.points[0].loss = 1e30;
        sweep.points[1].state = SWEEP_FAILED;
    }
    for (int64_t i = 0; i < sweep.n; i++) {
        sweep.points[i].peak_bytes = sweep.points[i].total_flops = INT64_MAX;
        sweep.points[i].units_per_second = 1e12;
    }
    snprintf(sweep.unit, sizeof sweep.unit, "characters");
    free(printed(&sweep));
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {all_of_a_small_one, 0},
        {limits_have_a_best, 0},
        {trainings_have_columns_of_their_own, 0},
        {what_ran_nowhere_has_counts_only, 0},
        {it_is_80_columns_wide, 8},
        {NULL, 0},
    };
    return harness_main("sweep_print", tests);
}
