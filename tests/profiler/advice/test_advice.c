// test_advice.c -- advice on the batch, the optimizer and fusing, on a profile made by hand: each
// rule fires when it should, says what the arithmetic gives, and otherwise keeps silent; and the
// order of the advice.
#include <stdio.h>
#include <string.h>

#include "tests/profiler/advice/advice_sample.h"

static const double no_time = (double)NAN;

// ---- the batch ---------------------------------------------------------------------------------
START_TEST(a_larger_batch_shares_the_optimizer_dispatch_and_what_lies_between_ops) {
    Sample s;
    sample_new(&s);
    // Shared by a batch: 200 + 20 + 12 ops of 1 us = 232 us; 4 x 1000 / (232 + 4 x 768) = 1.21.
    // Bound: half of the products' 758 us, and a dispatch for each of 6 other phases: 605 us, 1.83.
    advice_check(
        sample_find(&s, "larger batch"),
        (AdviceWanted){
            "larger batch: at least +21% samples/s, +19.2 kB", "--batch 256",
            "of 1.00 ms any batch pays: optimizer 200 us, between ops 20.0 us, dispatch 12.0 us; "
            "with all but arithmetic at the peak 605 us",
            0.75 * 232e-6, -19200, true});
    s.profile.has_machine = false;
    advice_check(sample_find(&s, "larger batch"),
                 (AdviceWanted){"larger batch: at least +20% samples/s, +19.2 kB", "--batch 256",
                                "dispatch 0 s; per extra sample: 100 B", 0.75 * 220e-6, -19200,
                                true});
    s.profile.batch = 1 << 23;
    ck_assert_ptr_null(sample_find(&s, "larger batch")); // beyond the flag's largest value
}
END_TEST

// Measured rounds of a few steps beat the estimate: 1.5 % on either side of their range.
START_TEST(what_was_looked_at_is_predicted_from_that) {
    Sample s;
    sample_new(&s);
    s.profile.probes[PROBE_LARGER_BATCH] = (Probe){5, 1.215, 1.265, -19000};
    const Advice *advice = sample_find(&s, "larger batch");
    advice_check(advice, (AdviceWanted){"larger batch: +20-28% samples/s, +19.0 kB", "--batch 256",
                                        "5 rounds of a few steps with it, in turns with the step "
                                        "as it is: 1.215 to 1.265 times the samples/s",
                                        1e-3 - 1e-3 / 1.2, -19000, true});
    ck_assert_str_eq(advice->apply, "--batch 256");
    ck_assert_double_eq_tol(advice->gain_low, 0.20, 1e-12);
    ck_assert_double_eq_tol(advice->gain_high, 0.28, 1e-12);
    s.profile.probes[PROBE_LARGER_BATCH] = (Probe){5, 0.965, 1.02, 0};
    advice = sample_find(&s, "larger batch");
    ck_assert_str_eq(advice->text, "larger batch: only -5% is sure, not worth it");
    s.profile.probes[PROBE_LARGER_BATCH] = (Probe){5, 1.0, 1.2, 0}; // too wide a range to tell
    advice = sample_find(&s, "larger batch");
    ck_assert(strstr(advice->text, "at least +21%") && !advice->apply[0]); // up to 83 %: too wide
    s.profile.probes[PROBE_SGD] = (Probe){3, 1.105, 1.117, 0};
    advice = sample_find(&s, "SGD");
    ck_assert_str_eq(advice->text, "SGD for Adam: +9-13%, -24.0 kB (other results!)");
    ck_assert_str_eq(advice->apply, "--optimizer sgd");
    s.profile.threads = 2; // only one is busy
    s.profile.probes[PROBE_FEWER_THREADS] = (Probe){5, 0.982, 1.007, 0};
    advice = sample_find(&s, "1 of 2 threads");
    ck_assert_str_eq(advice->text, "1 of 2 threads would do: -3 to +2% samples/s");
    ck_assert_str_eq(advice->apply, "--threads 1");
    s.profile.probes[PROBE_FEWER_THREADS] = (Probe){5, 0.80, 0.81, 0}; // fewer threads are slower
    ck_assert_ptr_null(sample_find(&s, "1 of 2 threads"));
    s.profile.probes[PROBE_FEWER_THREADS] = (Probe){5, 0.99, 1.007, 0};
    s.profile.others_share = 0.3; // if others use the cores, idle threads tell nothing
    ck_assert_ptr_null(sample_find(&s, "1 of 2 threads"));
}
END_TEST

// Recomputing was tried on layers that a flag can name: the text quotes for a shell, the applied
// arguments do not.
START_TEST(recomputing_tells_its_price) {
    Sample s;
    sample_new(&s);
    s.profile.probes[PROBE_RECOMPUTE] = (Probe){5, 0.745, 0.765, 26000};
    snprintf(s.profile.recompute.pattern, sizeof(s.profile.recompute.pattern), "*.*");
    const Advice *advice = sample_find(&s, "recomputing");
    advice_check(advice,
                 (AdviceWanted){"recomputing *.*: -26.0 kB, -27 to -22% samples/s",
                                "--recompute '*.*'", "0.745 to 0.765 times", no_time, 26000, true});
    ck_assert_str_eq(advice->apply, "--recompute *.*");
    ck_assert_double_eq_tol(advice->gain_low, -0.27, 1e-12);
    s.profile.probes[PROBE_RECOMPUTE].rounds = 0;
    ck_assert_ptr_null(sample_find(&s, "recomputing"));
}
END_TEST

START_TEST(between_ops_counts_only_beyond_the_noise) {
    Sample s;
    sample_new(&s);
    s.profile.totals[REPORT_STEP].latency.statistics.iqr = 5e-6;
    advice_check(sample_find(&s, "larger batch"),
                 (AdviceWanted){"larger batch: at least +21% samples/s, +19.2 kB", "--batch 256",
                                "between ops 15.0 us", 0.75 * 227e-6, -19200, true});
    s.profile.overhead_fraction = -0.01; // observed steps were 10 us faster
    ck_assert(strstr(sample_find(&s, "larger batch")->evidence, "between ops 5.00 us"));
    s.profile.overhead_fraction = 0.01;
    ck_assert(strstr(sample_find(&s, "larger batch")->evidence, "between ops 15.0 us"));
    s.profile.unattributed_seconds = -20e-6;
    ck_assert(strstr(sample_find(&s, "larger batch")->evidence, "between ops 0 s"));
}
END_TEST

START_TEST(a_larger_batch_is_not_worth_it_where_nothing_is_shared) {
    Sample s;
    sample_new(&s);
    sample_took(&s.layers[UPDATE].phase[REPORT_OPTIMIZER], 1e-6);
    s.profile.unattributed_seconds = 0.0;
    for (int i = 0; i < LAYERS; i++)
        for (int p = 0; p < REPORT_COUNT; p++) s.layers[i].phase[p].roofline.compute_seconds = 1.0;
    advice_check(sample_find(&s, "larger batch"),
                 (AdviceWanted){"larger batch: only +1% is sure, not worth it", "--batch 256",
                                "optimizer 1.00 us", 0.75 * 13e-6, -19200, false});
}
END_TEST

// ---- the optimizer -----------------------------------------------------------------------------
START_TEST(sgd_moves_three_arrays_of_seven_or_five) {
    static const struct {
        const char *name, *text, *evidence;
        double saved;
        int64_t bytes;
        uint64_t moved; // an array has 12,000 bytes
    } cases[] = {
        {"Adam", "SGD for Adam: -114 us, -24.0 kB (other results!)", "moves 7", 4 / 7.0, 24000,
         84000},
        {"AdamW", "SGD for AdamW: -114 us, -24.0 kB (other results!)", "moves 7", 4 / 7.0, 24000,
         84000},
        {"Momentum", "SGD for Momentum: -80.0 us, -12.0 kB (other results!)", "moves 5", 2 / 5.0,
         12000, 60000},
        {"Lion", "SGD for Lion: -80.0 us, -12.0 kB (other results!)", "moves 5", 2 / 5.0, 12000,
         60008}, // plus the learning rate
    };
    Sample s;
    sample_new(&s);
    for (int i = 0; i < 4; i++) {
        snprintf(s.profile.optimizer, sizeof(s.profile.optimizer), "%s", cases[i].name);
        s.profile.measured.peak.category[MEM_OPTIMIZER] = cases[i].bytes;
        s.profile.totals[REPORT_OPTIMIZER].cost = (OpCost){.bytes_read = cases[i].moved};
        advice_check(sample_find(&s, "SGD"),
                     (AdviceWanted){cases[i].text, "--optimizer sgd", cases[i].evidence,
                                    cases[i].saved * 200e-6, cases[i].bytes, true});
    }
    s.profile.totals[REPORT_OPTIMIZER].cost = (OpCost){.bytes_read = 36008}; // SGD's own traffic
    ck_assert_ptr_null(sample_find(&s, "SGD"));
    s.profile.totals[REPORT_OPTIMIZER].cost = (OpCost){.bytes_read = 60000}; // it has no state
    s.profile.measured.peak.category[MEM_OPTIMIZER] = 0;
    ck_assert_ptr_null(sample_find(&s, "SGD"));
}
END_TEST

START_TEST(sgd_is_for_time_or_where_the_state_is_the_largest_part_of_the_peak) {
    Sample s;
    sample_new(&s);
    sample_took(&s.layers[UPDATE].phase[REPORT_OPTIMIZER], 30e-6); // saves 1.7 %
    ck_assert(sample_find(&s, "SGD for Adam: -17.1 us")->worth);
    s.profile.measured.peak.category[MEM_ACTIVATION] = 24001;
    ck_assert_ptr_null(sample_find(&s, "SGD"));
    sample_took(&s.layers[UPDATE].phase[REPORT_OPTIMIZER], 36e-6); // saves 2.06 %
    ck_assert(sample_find(&s, "SGD")->worth);
    sample_took(&s.layers[UPDATE].phase[REPORT_OPTIMIZER], (double)NAN);
    ck_assert_ptr_null(sample_find(&s, "SGD"));
}
END_TEST

// ---- fusing ------------------------------------------------------------------------------------
START_TEST(fusing_saves_at_most_the_activations_forward) {
    Sample s;
    sample_new(&s);
    s.layers[RELU1].phase[REPORT_FORWARD].cost =
        (OpCost){.bytes_read = 5000, .bytes_written = 5000};
    // 4 us of ReLU, plus 2 of the 20 ops that share 20 us between ops
    advice_check(
        sample_find(&s, "fusing"),
        (AdviceWanted){"fusing ReLU: at most 0.6%, not worth it", "--fuse",
                       "2 ops take 4.00 us forward, and 2.00 us between ops; of 1.00 ms; 10.0 kB",
                       4e-6 + 2e-6, 0, false});
    sample_took(&s.layers[RELU1].phase[REPORT_FORWARD], 20e-6);
    advice_check(sample_find(&s, "fusing"),
                 (AdviceWanted){"fusing ReLU into products: at most -24.0 us", "--fuse", "22.0 us",
                                22e-6 + 2e-6, 0, true});
    s.profile.fixed_layers = true; // a profile_model run, where --fuse differs
    ck_assert_ptr_null(sample_find(&s, "fusing"));
}
END_TEST

START_TEST(only_an_activation_right_after_a_linear_layer_can_be_fused) {
    Sample s;
    sample_new(&s);
    s.forward[FC2].record.op = &op_layer_norm;
    ck_assert(strstr(sample_find(&s, "fusing")->evidence, "1 op takes 2.00 us"));
    s.forward[RELU1].record.op = &op_dropout;
    ck_assert_ptr_null(sample_find(&s, "fusing"));
    for (int i = 0; op_activation_at(i); i++) {
        s.forward[RELU1].record.op = op_activation_at(i);
        ck_assert_ptr_nonnull(sample_find(&s, "fusing ReLU: at most "));
    }
    s.forward[FC1].record.params.activation = &op_relu; // it has an activation already
    ck_assert_ptr_null(sample_find(&s, "fusing"));
}
END_TEST

// ---- all rules ---------------------------------------------------------------------------------
START_TEST(what_saves_most_comes_first_and_what_is_not_worth_it_last) {
    Sample s;
    Advice advice[ADVICE_MOST];
    sample_new(&s);
    s.profile.threads = 2;
    s.profile.probes[PROBE_FEWER_THREADS] = (Probe){5, 0.982, 1.007, 0};
    s.profile.data_wait = (Latency){.count = 50, .statistics = {.median = 1e-6}};
    sample_judged(&s.layers[FC1], BOUND_MEMORY, 0.3);
    static const char *const order[] = {"fc1", "larger", "SGD", "1 of 2", "fusing", "data"};
    ck_assert_int_eq(advice_find(&s.profile, advice), 6);
    for (int i = 0; i < 6; i++)
        ck_assert_msg(strncmp(advice[i].text, order[i], strlen(order[i])) == 0, "%d: %s", i,
                      advice[i].text);
}
END_TEST

START_TEST(the_least_of_too_many_is_left_out) {
    Sample s;
    Advice advice[ADVICE_MOST + 1] = {{.text = ""}};
    sample_new(&s);
    sample_all_overhead(&s);
    sample_judged(&s.layers[FC2], BOUND_MEMORY, 0.1);
    s.profile.threads = 2;
    s.profile.probes[PROBE_FEWER_THREADS] = s.profile.probes[PROBE_RECOMPUTE] =
        (Probe){5, 0.982, 1.007, 40};
    s.profile.recompute.pattern[0] = '*';
    s.profile.data_wait = (Latency){.count = 50, .statistics = {.median = 1e-6}};
    s.profile.totals[REPORT_STEP].roofline = (Roofline){.judged = true, .roof_fraction = 0.9};
    s.profile.measured.peak.category[MEM_ACTIVATION] = s.profile.measured.peak.total *= 2;
    s.profile.unattributed_seconds = 100e-6;
    ck_assert_int_eq(advice_find(&s.profile, advice), ADVICE_MOST); // all rules except waiting
    ck_assert_str_eq(advice[ADVICE_MOST].text, "");
    for (int i = 0; i < ADVICE_MOST; i++) ck_assert(!strstr(advice[i].text, "data"));
}
END_TEST

START_TEST(nothing_is_said_where_nothing_was_measured) {
    static const double steps[] = {(double)NAN, 0.0, -1.0, (double)INFINITY};
    Sample s;
    Advice advice[ADVICE_MOST];
    for (int i = 0; i < 5; i++) {
        sample_new(&s);
        if (i < 4) sample_took(&s.profile.totals[REPORT_STEP], steps[i]);
        if (i == 4) s.profile.totals[REPORT_STEP].latency.count = 0;
        ck_assert_int_eq(advice_find(&s.profile, advice), 0);
    }
    ck_assert_int_eq(advice_find(&(Profile){.batch = 1}, advice), 0);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {a_larger_batch_shares_the_optimizer_dispatch_and_what_lies_between_ops, 0},
        {what_was_looked_at_is_predicted_from_that, 0},
        {recomputing_tells_its_price, 0},
        {between_ops_counts_only_beyond_the_noise, 0},
        {a_larger_batch_is_not_worth_it_where_nothing_is_shared, 0},
        {sgd_moves_three_arrays_of_seven_or_five, 0},
        {sgd_is_for_time_or_where_the_state_is_the_largest_part_of_the_peak, 0},
        {fusing_saves_at_most_the_activations_forward, 0},
        {only_an_activation_right_after_a_linear_layer_can_be_fused, 0},
        {what_saves_most_comes_first_and_what_is_not_worth_it_last, 0},
        {the_least_of_too_many_is_left_out, 0},
        {nothing_is_said_where_nothing_was_measured, 0},
        {NULL, 0},
    };
    return harness_main("advice", tests);
}
