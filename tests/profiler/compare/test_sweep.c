// test_sweep.c -- the points of a grid that are worth having, and a line through the latencies of
// batches: compared with results by hand from the definitions.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "profiler/files/saved.h"
#include "tensor/memory.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/harness.h"
#include "tests/helpers/work_folder.h"
#include "tests/profiler/compare/planted_sweep.h"

#define AXES(...) ((const char *const[]){__VA_ARGS__, NULL})

START_TEST(the_last_axis_changes_first) {
    Sweep sweep = planted_sweep(AXES("batch=1,2,3", "threads=1,2"), 1.0, 1.0);
    int at[SWEEP_AXES];
    ck_assert_int_eq(sweep.n, 6);
    sweep_place(&sweep, 3, at);
    ck_assert_int_eq(at[0], 1);
    ck_assert_int_eq(at[1], 1);
    sweep_place(&sweep, 4, at);
    ck_assert_int_eq(at[0], 2);
    ck_assert_int_eq(at[1], 0);
    ck_assert_int_eq(sweep_axis(&sweep, "threads"), 1);
    ck_assert_int_eq(sweep_axis(&sweep, "lr"), -1);
    sweep_free(&sweep);
}
END_TEST

START_TEST(there_may_be_too_many_points) {
    Sweep sweep = {.n_axes = 4};
    for (int a = 0; a < 4; a++) sweep.axes[a].n = 9;
    ck_assert_int_eq(sweep_begin(&sweep), STATUS_INVALID_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error_message(), "6561 points, more than 4096"));
    error_clear();
    sweep_free(&sweep);
}
END_TEST

// A step of a + b n seconds has its knee exactly at n = a / b.
START_TEST(the_knee_is_where_overhead_equals_work) {
    Sweep sweep = planted_sweep(AXES("batch=1,2,4,8,16,32,64"), 8e-3, 1e-3);
    ck_assert_int_eq(sweep_judge(&sweep), STATUS_OK);
    ck_assert_int_eq(sweep.chosen, 3);
    for (int64_t i = 0; i < sweep.n; i++) ck_assert(sweep.points[i].pareto); // larger costs more
    sweep_free(&sweep);
}
END_TEST

START_TEST(what_another_beats_is_not_worth_having) {
    Sweep sweep = planted_sweep(AXES("batch=1,2", "threads=1,2"), 1e-3, 1e-3);
    sweep.points[1].seconds *= 1.5; // batch 1, 2 threads: slower, same memory
    sweep.points[1].units_per_second /= 1.5;
    sweep.points[3].seconds *= 0.9; // batch 2, 2 threads: better in everything
    sweep.points[3].units_per_second /= 0.9;
    ck_assert_int_eq(sweep_judge(&sweep), STATUS_OK);
    const bool pareto[] = {true, false, false, true};
    for (int i = 0; i < 4; i++) ck_assert_msg(sweep.points[i].pareto == pareto[i], "%d", i);
    sweep.points[3].peak_bytes += 1; // now worse in memory
    ck_assert_int_eq(sweep_judge(&sweep), STATUS_OK);
    ck_assert(sweep.points[2].pareto);
    sweep_free(&sweep);
}
END_TEST

START_TEST(twins_are_both_worth_having) {
    Sweep sweep = planted_sweep(AXES("seed=1,2"), 1e-3, 1e-3);
    ck_assert_int_eq(sweep_judge(&sweep), STATUS_OK);
    ck_assert(sweep.points[0].pareto && sweep.points[1].pareto);
    ck_assert_int_eq(sweep.chosen, 0);
    sweep_free(&sweep);
}
END_TEST

START_TEST(with_limits_the_best_is_the_fastest_within_them) {
    Sweep sweep = planted_sweep(AXES("batch=1,2,4,8,16"), 1.0, 1.0);
    sweep.limits = (SweepLimits){.seconds = 9.0};
    ck_assert_int_eq(sweep_judge(&sweep), STATUS_OK);
    ck_assert_int_eq(sweep.chosen, 3); // 9 s, exactly
    ck_assert(sweep.points[4].over && !sweep.points[3].over);
    sweep.limits = (SweepLimits){.seconds = 9.0, .bytes = 1400};
    ck_assert_int_eq(sweep_judge(&sweep), STATUS_OK);
    ck_assert_int_eq(sweep.chosen, 2);
    sweep.limits = (SweepLimits){.bytes = 1};
    ck_assert_int_eq(sweep_judge(&sweep), STATUS_OK);
    ck_assert_int_eq(sweep.chosen, -1);
    sweep_free(&sweep);
}
END_TEST

START_TEST(what_was_not_measured_counts_for_nothing) {
    Sweep sweep = planted_sweep(AXES("batch=1,2,4"), 1e-3, 1e-3);
    sweep.points[0] = (SweepPoint){.state = SWEEP_FAILED};
    sweep.points[1] = (SweepPoint){.state = SWEEP_OPEN};
    sweep.points[2].seconds = 0.0; // as on the meta device
    ck_assert_int_eq(sweep_judge(&sweep), STATUS_OK);
    ck_assert_int_eq(sweep.chosen, -1);
    for (int i = 0; i < 3; i++) ck_assert(!sweep.points[i].pareto && !sweep.points[i].over);
    sweep_free(&sweep);
}
END_TEST

// Losses fall by 0.01 a part to 0.1, 0.3 and 0.2; half of the three reach the median, 0.2.
START_TEST(trainings_are_timed_to_what_half_of_them_reached) {
    Sweep sweep = planted_sweep(AXES("lr=1,2,3,4"), 1e-3, 1e-3);
    sweep.learns = true;
    planted_training(&sweep.points[0], 0.1, 0.9);
    planted_training(&sweep.points[1], 0.3, 0.95);
    planted_training(&sweep.points[2], 0.2, 0.8);
    ck_assert_int_eq(sweep_judge(&sweep), STATUS_OK); // the fourth diverged
    ck_assert_double_eq(sweep.target, 0.2);
    ck_assert_double_eq_tol(sweep.points[0].target_seconds, 0.1 * 54 / 64, 0.1 / 64 + 1e-9);
    ck_assert_double_eq(sweep.points[2].target_seconds, 0.1);
    ck_assert(isnan(sweep.points[1].target_seconds) && isnan(sweep.points[3].target_seconds));
    ck_assert_int_eq(sweep.chosen, 1);
    ck_assert(!sweep.points[2].pareto && !sweep.points[3].pareto && sweep.points[1].pareto);
    for (int i = 0; i < 3; i++) sweep.points[i].accuracy = (double)NAN; // as for a text
    ck_assert_int_eq(sweep_judge(&sweep), STATUS_OK);
    ck_assert_int_eq(sweep.chosen, 0);
    sweep_free(&sweep);
}
END_TEST

// ---- latency of a batch ------------------------------------------------------------------------
START_TEST(a_line_is_found_again) {
    Sweep sweep = planted_sweep(AXES("threads=1,2", "batch=64,1,8,256"), 5e-4, 2e-5);
    SweepFit fit;
    for (int i = 4; i < 8; i++) sweep.points[i].seconds *= 0.5;
    ck_assert(sweep_fit(&sweep, 1, 4, &fit));
    ck_assert_double_eq_tol(fit.fixed, 2.5e-4, 1e-12);
    ck_assert_double_eq_tol(fit.each, 1e-5, 1e-14);
    ck_assert_double_lt(fit.error, 1e-9);
    ck_assert_int_eq(fit.from, 8);   // a batch of 1 uses other kernels
    ck_assert_int_eq(fit.batch, 23); // 8 to 64 or 64 to 256: the wider gap
    ck_assert_double_eq_tol(fit.seconds, 4.8e-4, 1e-12);
    ck_assert(sweep_fit(&sweep, 1, 0, &fit));
    ck_assert_double_eq_tol(fit.each, 2e-5, 1e-14);
    sweep_free(&sweep);
}
END_TEST

// One point lies above the line 1 + 1 n. The others predict four fifths of its time, an error of 20
// %. A line is refused if the others predict half of a point's time.
START_TEST(the_error_is_of_what_was_left_out) {
    Sweep sweep = planted_sweep(AXES("batch=1,2,3,4"), 1.0, 1.0);
    SweepFit fit;
    sweep.points[1].seconds *= 1.25;
    ck_assert(sweep_fit(&sweep, 0, 0, &fit));
    ck_assert_double_eq_tol(fit.error, 0.2, 1e-9);
    sweep.points[1].seconds *= 1.6;
    ck_assert(!sweep_fit(&sweep, 0, 0, &fit));
    sweep_free(&sweep);
}
END_TEST

// The line never gives negative time; if larger batches take less time, there is no line.
START_TEST(a_line_stays_above_0) {
    SweepFit fit;
    Sweep sweep = planted_sweep(AXES("batch=1,2,4,8"), 1.0, 1.0);
    sweep.points[3].seconds = 10.6; // 2, 3, 5: the line through the last two is below 0 at 0
    sweep.points[1].seconds = 2.2;
    ck_assert(sweep_fit(&sweep, 0, 0, &fit));
    ck_assert(fit.fixed == 0.0 && fit.each > 0.0 && fit.seconds > 0.0);
    for (int i = 0; i < 4; i++) sweep.points[i].seconds = 10.0 - i;
    ck_assert(!sweep_fit(&sweep, 0, 0, &fit));
    sweep_free(&sweep);
}
END_TEST

// A text has no accuracy, and tokens and images have no common throughput.
START_TEST(what_cannot_be_compared_is_not) {
    Sweep sweep = planted_sweep(AXES("model=a,b,c"), 1e-3, 1e-3);
    sweep.learns = true;
    for (int i = 0; i < 3; i++) planted_training(&sweep.points[i], 0.1 * (i + 1), 0.5 + 0.1 * i);
    ck_assert_int_eq(sweep_judge(&sweep), STATUS_OK);
    ck_assert(sweep.by_accuracy);
    ck_assert_int_eq(sweep.chosen, 2);
    sweep.points[2].accuracy = (double)NAN;
    ck_assert_int_eq(sweep_judge(&sweep), STATUS_OK);
    ck_assert(!sweep.by_accuracy);
    ck_assert_int_eq(sweep.chosen, 0);
    sweep.learns = false;
    sweep_take_unit(&sweep, "samples");
    ck_assert(!sweep_mixes_units(&sweep));
    sweep_take_unit(&sweep, "tokens");
    sweep_take_unit(&sweep, "samples");
    ck_assert(sweep_mixes_units(&sweep));
    sweep.points[1].units_per_second = 1e9;
    sweep.points[2].seconds = 1e-3;
    ck_assert_int_eq(sweep_judge(&sweep), STATUS_OK);
    ck_assert_int_eq(sweep.chosen, 2); // the shortest step
    sweep_free(&sweep);
}
END_TEST

// Three steps, each spread over many of the 64 parts: only whole steps count.
START_TEST(of_few_steps_whole_ones_are_timed) {
    Sweep sweep = planted_sweep(AXES("lr=1"), 1e-3, 1e-3);
    sweep.learns = true;
    planted_training(&sweep.points[0], 1.0, 0.5);
    sweep.points[0].steps = 3;
    for (int i = 0; i < SWEEP_LOSSES; i++) sweep.points[0].losses[i] = 1.0;
    ck_assert_int_eq(sweep_judge(&sweep), STATUS_OK);
    ck_assert_double_eq_tol(sweep.points[0].target_seconds, 0.1 / 3.0, 1e-12);
    sweep_free(&sweep);
}
END_TEST

START_TEST(few_batches_have_no_line) {
    SweepFit fit;
    Sweep sweep = planted_sweep(AXES("batch=1,2,3"), 1.0, 1.0);
    ck_assert(!sweep_fit(&sweep, -1, 0, &fit));
    ck_assert(sweep_fit(&sweep, 0, 0, &fit));
    ck_assert_int_eq(fit.batch, 6); // no gap: twice the last
    sweep.points[2].state = SWEEP_FAILED;
    ck_assert(!sweep_fit(&sweep, 0, 0, &fit));
    sweep_free(&sweep);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {the_last_axis_changes_first, 0},
        {there_may_be_too_many_points, 0},
        {the_knee_is_where_overhead_equals_work, 0},
        {what_another_beats_is_not_worth_having, 0},
        {twins_are_both_worth_having, 0},
        {with_limits_the_best_is_the_fastest_within_them, 0},
        {what_was_not_measured_counts_for_nothing, 0},
        {trainings_are_timed_to_what_half_of_them_reached, 0},
        {a_line_is_found_again, 0},
        {the_error_is_of_what_was_left_out, 0},
        {few_batches_have_no_line, 0},
        {a_line_stays_above_0, 0},
        {what_cannot_be_compared_is_not, 0},
        {of_few_steps_whole_ones_are_timed, 0},
        {NULL, 0},
    };
    return harness_main("sweep", tests);
}
