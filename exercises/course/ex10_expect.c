// ex10_expect.c -- what a profile of a training step has to say, and what other counts and times of
// the same step mean.
#include "exercises/course/ex10_expect.h"

#include "exercises/course/values.h"

// ---- FLOPs -------------------------------------------------------------------------------------
static void expect_count(CaseRun *run, const BackwardQuestion *q, const char *name, int64_t flops) {
    run_expect_integer(run, name, flops);
    if (flops == 0) return;
    run_mistake_integer(run, "flops_per_sample", flops / q->timed.batch);
    run_mistake_integer(run, "batch_counted_twice", flops * q->timed.batch);
    run_mistake_integer(run, "integer_overflow", (int32_t)flops);
}

static void expect_flops(CaseRun *run, const BackwardQuestion *q) {
    expect_count(run, q, "forward_flops", q->forward);
    run_mistake_integer(run, "activation_in_products", q->forward + q->activations);
    expect_count(run, q, "weight_gradient_flops", q->weight);
    run_mistake_integer(run, "frozen_has_gradient", q->forward);
    expect_count(run, q, "input_gradient_flops", q->input);
    run_mistake_integer(run, "frozen_has_gradient", q->without_freezing);
    run_mistake_integer(run, "first_layer_input_gradient", q->forward);
    expect_count(run, q, "backward_flops", q->weight + q->input);
    run_mistake_integer(run, "backward_twice_forward", 2 * q->forward);
    run_mistake_integer(run, "gradient_forgotten", q->weight);
    run_mistake_integer(run, "gradient_forgotten", q->input);
    run_mistake_integer(run, "forward_in_backward", q->forward + q->weight + q->input);
}

// ---- times -------------------------------------------------------------------------------------
static void expect_forward_seconds(CaseRun *run, const BackwardQuestion *q) {
    double forward = q->forward_seconds;
    run_expect_real(run, "forward_seconds", forward, TIMED_TOLERANCE);
    run_mistake_real(run, "warmup_missing", forward + q->timed.all_cold);
    run_mistake_real(run, "loss_in_a_part", forward + q->loss_seconds);
    run_mistake_real(run, "loss_in_a_part", forward + q->zero_seconds);
    run_mistake_real(run, "loss_in_a_part", forward + q->zero_seconds + q->loss_seconds);
    timed_mistake_clocks(run, forward, q->event_in == FORWARD);
}

static void expect_backward_seconds(CaseRun *run, const BackwardQuestion *q) {
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

static void expect_optimizer_seconds(CaseRun *run, const BackwardQuestion *q) {
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

static void expect_seconds(CaseRun *run, const BackwardQuestion *q) {
    expect_forward_seconds(run, q);
    expect_backward_seconds(run, q);
    expect_optimizer_seconds(run, q);
    run_expect_recorded(run, "backwards_without_zero_grad", RECORDED_BACKWARDS_UNZEROED, 0);
    for (int i = 1; i < 4; i++) run_mistake_integer(run, "gradients_not_zeroed", i);
    run_expect_recorded(run, "steps_without_backward", RECORDED_STEPS_WITHOUT_BACKWARD, 0);
}

static void expect_ratio(CaseRun *run, const BackwardQuestion *q) {
    double forward = q->forward_seconds, backward = q->backward_seconds;
    run_expect_real(run, "backward_ratio", backward / forward, TIMED_TOLERANCE);
    run_mistake_real(run, "backward_twice_forward", 2.0);
    run_mistake_real(run, "ratio_of_flops", (double)(q->weight + q->input) / (double)q->forward);
    run_mistake_real(run, "ratio_inverted", forward / backward);
    run_mistake_real(run, "optimizer_in_backward", (backward + q->optimizer_seconds) / forward);
}

static void expect_step(CaseRun *run, const BackwardQuestion *q) {
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
    if (ask & BACKWARD_ASK_FLOPS) expect_flops(run, q);
    if (ask & BACKWARD_ASK_SECONDS) expect_seconds(run, q);
    if (ask & BACKWARD_ASK_RATIO) expect_ratio(run, q);
    if (ask & BACKWARD_ASK_STEP) expect_step(run, q);
}
