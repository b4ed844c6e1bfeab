// profile_expect.c -- the right values in the profile of a forward pass (exercise 09) and of a
// training step (10), and mistakes that lead to other quotients, counts and times of the same work.
#include "exercises/course/parts.h"

#include <stdio.h>

#include "exercises/course/values.h"

static const char *const bounds[] = {"FORWARD_COMPUTE", "FORWARD_MEMORY", "FORWARD_NEITHER", NULL};
enum { COMPUTE, MEMORY, NEITHER };

// ---- of a row ----------------------------------------------------------------------------------
static const char *row_value(char name[CASE_NAME], int row, const char *value) {
    snprintf(name, CASE_NAME, "rows[%d].%.16s", row % 10, value);
    return name;
}

static void expect_row_flops(CaseRun *run, const TimedCase *t, int row) {
    char name[CASE_NAME];
    run_expect_integer(run, row_value(name, row, "flops"), t->flops[row] * t->batch);
    run_mistake_integer(run, "flops_per_sample", t->flops[row]);
    run_mistake_integer(run, "batch_counted_twice", t->flops[row] * t->batch * t->batch);
    run_mistake_integer(run, "integer_overflow", (int32_t)(t->flops[row] * t->batch));
}

static void expect_row_seconds(CaseRun *run, const TimedCase *t, int row) {
    char name[CASE_NAME];
    run_expect_real(run, row_value(name, row, "seconds"), t->seconds[row], TIMED_TOLERANCE);
    timed_mistake_clocks(run, t->seconds[row], row == t->slowest);
    run_mistake_real(run, "warmup_missing", t->cold + t->seconds[row]);
    run_mistake_real(run, "two_runs_for_one", 2.0 * t->seconds[row]);
    run_mistake_real(run, "container_counted", t->whole);
}

static void expect_share(CaseRun *run, const TimedCase *t, int row) {
    char name[CASE_NAME];
    double share = t->seconds[row] / t->whole;
    run_expect_real(run, row_value(name, row, "share"), share, TIMED_TOLERANCE);
    run_mistake_real(run, "share_of_wrong_total", t->seconds[row] / t->rows_seconds);
    run_mistake_real(run, "percent_for_fraction", 100.0 * share);
}

static void expect_rate(CaseRun *run, const TimedCase *t, int row) {
    char name[CASE_NAME];
    double rate = (double)(t->flops[row] * t->batch) / t->seconds[row];
    run_expect_real(run, row_value(name, row, "flops_per_second"), rate, TIMED_TOLERANCE);
    run_mistake_real(run, "flops_per_sample", rate / (double)t->batch);
    run_mistake_real(run, "batch_counted_twice", rate * (double)t->batch);
    run_mistake_real(run, "milliseconds_for_seconds", 1e-3 * rate);
    run_mistake_real(run, "gflop_for_flop", 1e-9 * rate);
}

static void expect_bound(CaseRun *run, const ForwardQuestion *q, int row) {
    char name[CASE_NAME];
    double work = (double)(q->timed.flops[row] * q->timed.batch);
    double traffic = (double)q->timed.bytes[row];
    bool compute = work * (double)q->bandwidth >= traffic * (double)q->peak;
    int bound = q->timed.bytes[row] == 0 ? NEITHER : compute ? COMPUTE : MEMORY;
    run_expect_word(run, row_value(name, row, "bound"), bound, bounds);
    const char *meant = row == q->watched || q->watched == EVERY_ROW ? q->mistake : NULL;
    if (bound == COMPUTE) run_mistake_integer(run, meant ? meant : "bound_from_efficiency", MEMORY);
    if (bound == MEMORY) run_mistake_integer(run, meant ? meant : "bound_swapped", COMPUTE);
    if (bound == NEITHER) {
        run_mistake_integer(run, "view_judged", MEMORY);
        run_mistake_integer(run, "view_judged", COMPUTE);
        run_mistake_status(run, "view_judged", STATUS_INVALID_ARGUMENT);
    }
}

static void expect_row(CaseRun *run, const ForwardQuestion *q, int ask, int row) {
    if (ask & FORWARD_ASK_FLOPS) expect_row_flops(run, &q->timed, row);
    if (ask & FORWARD_ASK_ROW_SECONDS) expect_row_seconds(run, &q->timed, row);
    if (ask & FORWARD_ASK_SHARES) expect_share(run, &q->timed, row);
    if (ask & FORWARD_ASK_RATES) expect_rate(run, &q->timed, row);
    if (ask & FORWARD_ASK_BOUNDS) expect_bound(run, q, row);
}

// ---- of the whole ------------------------------------------------------------------------------
static int64_t all_flops(const TimedCase *t) {
    int64_t flops = 0;
    for (int i = 0; i < t->rows; i++) flops += t->flops[i];
    return flops * t->batch;
}

static void expect_n_rows(CaseRun *run, const TimedCase *t) {
    run_expect_integer(run, "n_rows", t->rows);
    run_mistake_integer(run, "container_counted", t->rows + t->containers);
    run_mistake_integer(run, "container_counted", t->rows + t->containers - 1);
    run_mistake_integer(run, "nested_ignored", t->children);
}

static void expect_flops(CaseRun *run, const TimedCase *t) {
    int64_t flops = all_flops(t);
    run_expect_integer(run, "flops", flops);
    run_mistake_integer(run, "flops_per_sample", flops / t->batch);
    run_mistake_integer(run, "batch_counted_twice", flops * t->batch);
    run_mistake_integer(run, "container_counted", 2 * flops);
    run_mistake_integer(run, "integer_overflow", (int32_t)flops);
    // The roofline returns this status for a negative number of bytes.
    if (flops > INT32_MAX) run_mistake_status(run, "integer_overflow", STATUS_INVALID_ARGUMENT);
}

static void expect_seconds(CaseRun *run, const TimedCase *t) {
    run_expect_real(run, "seconds", t->whole, TIMED_TOLERANCE);
    run_mistake_real(run, "unattributed_time", t->rows_seconds);
    run_mistake_real(run, "container_counted", t->whole + t->rows_seconds);
    run_mistake_real(run, "warmup_missing", t->whole + t->all_cold);
    run_mistake_real(run, "warmup_missing", t->whole + t->containers * t->cold);
    run_mistake_real(run, "warmup_missing", 2.0 * t->whole + t->all_cold);
    run_mistake_real(run, "warmup_missing", t->whole + t->all_cold / 2.0);
    run_mistake_real(run, "two_runs_for_one", 2.0 * t->whole);
    timed_mistake_clocks(run, t->whole, true);
}

static void expect_unattributed(CaseRun *run, const TimedCase *t) {
    double rest = t->whole - t->rows_seconds;
    run_expect_real(run, "unattributed_seconds", rest, TIMED_TOLERANCE);
    run_mistake_real(run, "unattributed_time", 0.0);
    run_mistake_real(run, "unattributed_time", t->rows_seconds);
    run_mistake_real(run, "unattributed_time", -rest);
    run_mistake_real(run, "share_for_seconds", rest / t->whole);
    run_mistake_real(run, "warmup_missing", rest + t->all_cold);
    run_mistake_real(run, "milliseconds_for_seconds", 1e3 * rest);
}

static void expect_whole_rate(CaseRun *run, const TimedCase *t) {
    double flops = (double)all_flops(t), sum = 0.0;
    for (int i = 0; i < t->rows; i++) sum += (double)(t->flops[i] * t->batch) / t->seconds[i];
    run_expect_real(run, "flops_per_second", flops / t->whole, TIMED_TOLERANCE);
    run_mistake_real(run, "rates_added", sum);
    run_mistake_real(run, "rates_added", sum / t->rows);
    run_mistake_real(run, "unattributed_time", flops / t->rows_seconds);
    run_mistake_real(run, "flops_per_sample", flops / t->whole / (double)t->batch);
    run_mistake_real(run, "batch_counted_twice", flops / t->whole * (double)t->batch);
    run_mistake_real(run, "milliseconds_for_seconds", 1e-3 * flops / t->whole);
}

static void expect_samples(CaseRun *run, const TimedCase *t) {
    double samples = (double)t->batch / t->whole;
    run_expect_real(run, "samples_per_second", samples, TIMED_TOLERANCE);
    run_mistake_real(run, "steps_for_samples", 1.0 / t->whole);
    run_mistake_real(run, "throughput_inverted", 1.0 / samples);
    run_mistake_real(run, "throughput_inverted", t->whole);
    run_mistake_real(run, "unattributed_time", (double)t->batch / t->rows_seconds);
    run_mistake_real(run, "milliseconds_for_seconds", 1e-3 * samples);
}

static void expect_amdahl(CaseRun *run, const TimedCase *t) {
    double share = t->seconds[t->slowest] / t->whole;
    double flops = (double)(t->flops[t->heaviest] * t->batch) / (double)all_flops(t);
    run_expect_real(run, "amdahl_limit", 1.0 / (1.0 - share), TIMED_TOLERANCE);
    run_mistake_real(run, "amdahl_inverse_share", 1.0 / share);
    run_mistake_real(run, "amdahl_equal_rows", 1.0 / (1.0 - 2.0 * share));
    run_mistake_real(run, "amdahl_twice_as_fast", 1.0 / (1.0 - share / 2.0));
    run_mistake_real(run, "share_of_wrong_total",
                     1.0 / (1.0 - t->seconds[t->slowest] / t->rows_seconds));
    run_mistake_real(run, "slowest_by_flops", 1.0 / (1.0 - t->seconds[t->heaviest] / t->whole));
    run_mistake_real(run, "slowest_by_flops", 1.0 / (1.0 - flops));
    run_mistake_real(run, "amdahl_remaining", 1.0 - share);
}

void expect_forward(const ForwardQuestion *q, int ask, CaseRun *run) {
    expect_n_rows(run, &q->timed);
    for (int i = 0; i < q->timed.rows; i++) expect_row(run, q, ask, i);
    if (ask & FORWARD_ASK_FLOPS) expect_flops(run, &q->timed);
    if (ask & FORWARD_ASK_SECONDS) expect_seconds(run, &q->timed);
    if (ask & FORWARD_ASK_UNATTRIBUTED) expect_unattributed(run, &q->timed);
    if (ask & FORWARD_ASK_RATES) expect_whole_rate(run, &q->timed);
    if (ask & FORWARD_ASK_SAMPLES) expect_samples(run, &q->timed);
    if (ask & FORWARD_ASK_AMDAHL) expect_amdahl(run, &q->timed);
}

// ---- of a training step: FLOPs -----------------------------------------------------------------
static void step_count(CaseRun *run, const BackwardQuestion *q, const char *name, int64_t flops) {
    run_expect_integer(run, name, flops);
    if (flops == 0) return;
    run_mistake_integer(run, "flops_per_sample", flops / q->timed.batch);
    run_mistake_integer(run, "batch_counted_twice", flops * q->timed.batch);
    run_mistake_integer(run, "integer_overflow", (int32_t)flops);
}

static void step_flops(CaseRun *run, const BackwardQuestion *q) {
    step_count(run, q, "forward_flops", q->forward);
    run_mistake_integer(run, "activation_in_products", q->forward + q->activations);
    step_count(run, q, "weight_gradient_flops", q->weight);
    run_mistake_integer(run, "frozen_has_gradient", q->forward);
    step_count(run, q, "input_gradient_flops", q->input);
    run_mistake_integer(run, "frozen_has_gradient", q->without_freezing);
    run_mistake_integer(run, "first_layer_input_gradient", q->forward);
    step_count(run, q, "backward_flops", q->weight + q->input);
    run_mistake_integer(run, "backward_twice_forward", 2 * q->forward);
    run_mistake_integer(run, "gradient_forgotten", q->weight);
    run_mistake_integer(run, "gradient_forgotten", q->input);
    run_mistake_integer(run, "forward_in_backward", q->forward + q->weight + q->input);
}

// ---- of a training step: times -----------------------------------------------------------------
static void step_forward_seconds(CaseRun *run, const BackwardQuestion *q) {
    double forward = q->forward_seconds;
    run_expect_real(run, "forward_seconds", forward, TIMED_TOLERANCE);
    run_mistake_real(run, "warmup_missing", forward + q->timed.all_cold);
    run_mistake_real(run, "loss_in_a_part", forward + q->loss_seconds);
    run_mistake_real(run, "loss_in_a_part", forward + q->zero_seconds);
    run_mistake_real(run, "loss_in_a_part", forward + q->zero_seconds + q->loss_seconds);
    timed_mistake_clocks(run, forward, q->event_in == FORWARD);
}

static void step_backward_seconds(CaseRun *run, const BackwardQuestion *q) {
    double forward = q->forward_seconds, backward = q->backward_seconds;
    run_expect_real(run, "backward_seconds", backward, TIMED_TOLERANCE);
    run_mistake_real(run, "backward_twice_forward", 2.0 * forward);
    run_mistake_real(run, "timer_not_restarted", forward + backward);
    run_mistake_real(run, "timer_not_restarted", forward + q->loss_seconds + backward);
    run_mistake_real(run, "warmup_missing", backward + q->timed.cold);
    run_mistake_real(run, "loss_in_a_part", backward + q->loss_seconds);
    run_mistake_real(run, "loss_in_a_part", backward + q->zero_seconds);
    run_mistake_real(run, "optimizer_in_backward", backward + q->optimizer_seconds);
    timed_mistake_clocks(run, backward, q->event_in == BACKWARD);
}

static void step_optimizer_seconds(CaseRun *run, const BackwardQuestion *q) {
    double forward = q->forward_seconds, backward = q->backward_seconds;
    double optimizer = q->optimizer_seconds;
    run_expect_real(run, "optimizer_seconds", optimizer, TIMED_TOLERANCE);
    run_mistake_real(run, "optimizer_left_out", 0.0);
    run_mistake_real(run, "timer_not_restarted", backward + optimizer);
    run_mistake_real(run, "timer_not_restarted", forward + q->loss_seconds + backward + optimizer);
    run_mistake_real(run, "warmup_missing", optimizer + q->timed.cold);
    run_mistake_real(run, "loss_in_a_part", optimizer + q->zero_seconds);
    timed_mistake_clocks(run, optimizer, q->event_in == OPTIMIZER);
}

static void step_seconds(CaseRun *run, const BackwardQuestion *q) {
    step_forward_seconds(run, q);
    step_backward_seconds(run, q);
    step_optimizer_seconds(run, q);
    run_expect_recorded(run, "backwards_without_zero_grad", RECORDED_BACKWARDS_UNZEROED, 0);
    for (int i = 1; i < 4; i++) run_mistake_integer(run, "gradients_not_zeroed", i);
    run_expect_recorded(run, "steps_without_backward", RECORDED_STEPS_WITHOUT_BACKWARD, 0);
    for (int i = 1; i < 4; i++) run_mistake_integer(run, "step_without_gradients", i);
}

static void step_ratio(CaseRun *run, const BackwardQuestion *q) {
    double forward = q->forward_seconds, backward = q->backward_seconds;
    run_expect_real(run, "backward_ratio", backward / forward, TIMED_TOLERANCE);
    run_mistake_real(run, "backward_twice_forward", 2.0);
    run_mistake_real(run, "ratio_of_flops", (double)(q->weight + q->input) / (double)q->forward);
    run_mistake_real(run, "ratio_inverted", forward / backward);
    run_mistake_real(run, "optimizer_in_backward", (backward + q->optimizer_seconds) / forward);
}

static void step_whole(CaseRun *run, const BackwardQuestion *q) {
    double forward = q->forward_seconds, backward = q->backward_seconds;
    double optimizer = q->optimizer_seconds, step = forward + backward + optimizer;
    double others = q->zero_seconds + q->loss_seconds;
    run_expect_real(run, "step_seconds", step, TIMED_TOLERANCE);
    run_mistake_real(run, "optimizer_left_out", forward + backward);
    run_mistake_real(run, "backward_twice_forward", 3.0 * forward + optimizer);
    run_mistake_real(run, "backward_twice_forward", 3.0 * forward);
    run_mistake_real(run, "loss_in_a_part", step + others);
    run_mistake_real(run, "loss_in_a_part", step + q->loss_seconds);
    run_mistake_real(run, "milliseconds_for_seconds", 1e3 * step);
    run_expect_real(run, "optimizer_share", optimizer / step, TIMED_TOLERANCE);
    run_mistake_real(run, "optimizer_left_out", 0.0);
    run_mistake_real(run, "share_of_wrong_total", optimizer / (forward + backward));
    run_mistake_real(run, "share_of_wrong_total", optimizer / (step + others));
    run_mistake_real(run, "percent_for_fraction", 100.0 * optimizer / step);
}

void expect_backward(const BackwardQuestion *q, int ask, CaseRun *run) {
    if (ask & BACKWARD_ASK_FLOPS) step_flops(run, q);
    if (ask & BACKWARD_ASK_SECONDS) step_seconds(run, q);
    if (ask & BACKWARD_ASK_RATIO) step_ratio(run, q);
    if (ask & BACKWARD_ASK_STEP) step_whole(run, q);
}
