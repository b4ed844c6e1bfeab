// ex10_profile_backward_pass_cases.c -- exercise 10 in the grader. FLOPs of gradients are those of
// the library's own backward in a dry run, times are the schedule's.
#include <stdio.h>
#include <string.h>

#include "exercises/course/ex10_values.h"
#include "exercises/course/timed_case.h"
#include "layers/cost.h"

#define TOLERANCE 1e-3 // the clock's own readings take time, too

typedef struct Question {
    TimedCase timed;
    int64_t forward, weight, input; // FLOPs of products, of the batch: 2 per multiply-add
    int64_t activations;            // what the textbook counts besides
    int64_t without_freezing;       // of input gradients, were nothing frozen
    double forward_seconds, backward_seconds, optimizer_seconds;
} Question;

// ---- FLOPs -------------------------------------------------------------------------------------
static Status count_products(const char *text, LayerCost *cost) {
    ModelCase model;
    CaseRun unused;
    memset(&unused, 0, sizeof unused);
    Status status = model_case_begin(&model, text, &unused);
    Tensor *x = status ? NULL : tensor_new(model.input, DTYPE_FLOAT32);
    if (!status) status = x ? layer_cost(model.model, &x, 1, cost) : error_status();
    tensor_free(x);
    return model_case_end(&model, status);
}

static Status count(Question *q) {
    LayerCost cost = {0}, thawed = {0};
    char text[TIMED_TEXT];
    snprintf(text, sizeof text, "%s", q->timed.text);
    Status status = count_products(text, &cost);
    char *freeze = strstr(text, "freeze"), *shape = strchr(text, '@');
    if (freeze && shape) memmove(freeze, shape, strlen(shape) + 1);
    if (!status) status = count_products(text, &thawed);
    q->forward = 2 * (int64_t)cost.phase[PHASE_FORWARD].macs;
    q->weight = 2 * (int64_t)cost.phase[PHASE_BACKWARD_WEIGHT].macs;
    q->input = 2 * (int64_t)cost.phase[PHASE_BACKWARD_INPUT].macs;
    q->without_freezing = 2 * (int64_t)thawed.phase[PHASE_BACKWARD_INPUT].macs;
    q->activations = -q->forward;
    for (int i = 0; i < q->timed.rows; i++) q->activations += q->timed.flops[i] * q->timed.batch;
    return status;
}

static void expect_count(CaseRun *run, const Question *q, const char *name, int64_t flops) {
    run_expect_integer(run, name, flops);
    if (flops == 0) return;
    run_mistake_integer(run, "flops_per_sample", flops / q->timed.batch);
    run_mistake_integer(run, "batch_counted_twice", flops * q->timed.batch);
}

static void expect_flops(CaseRun *run, const Question *q) {
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
static void expect_seconds(CaseRun *run, const Question *q) {
    double forward = q->forward_seconds, backward = q->backward_seconds, cold = q->timed.cold;
    run_expect_real(run, "forward_seconds", forward, TOLERANCE);
    run_mistake_real(run, "warmup_missing", forward + q->timed.rows * cold);
    run_mistake_real(run, "milliseconds_for_seconds", 1e3 * forward);
    run_expect_real(run, "backward_seconds", backward, TOLERANCE);
    run_mistake_real(run, "backward_twice_forward", 2.0 * forward);
    run_mistake_real(run, "timer_not_restarted", forward + backward);
    run_mistake_real(run, "warmup_missing", backward + cold);
    run_mistake_real(run, "milliseconds_for_seconds", 1e3 * backward);
    run_expect_real(run, "optimizer_seconds", q->optimizer_seconds, TOLERANCE);
    run_mistake_real(run, "optimizer_left_out", 0.0);
    run_mistake_real(run, "timer_not_restarted", backward + q->optimizer_seconds);
    run_mistake_real(run, "timer_not_restarted", forward + backward + q->optimizer_seconds);
    run_mistake_real(run, "warmup_missing", q->optimizer_seconds + cold);
    run_mistake_real(run, "milliseconds_for_seconds", 1e3 * q->optimizer_seconds);
}

static void expect_ratio(CaseRun *run, const Question *q) {
    double forward = q->forward_seconds, backward = q->backward_seconds;
    run_expect_real(run, "backward_ratio", backward / forward, TOLERANCE);
    run_mistake_real(run, "backward_twice_forward", 2.0);
    run_mistake_real(run, "ratio_of_flops", (double)(q->weight + q->input) / (double)q->forward);
    run_mistake_real(run, "ratio_inverted", forward / backward);
    run_mistake_real(run, "optimizer_in_backward", (backward + q->optimizer_seconds) / forward);
}

static void expect_step(CaseRun *run, const Question *q) {
    double forward = q->forward_seconds, backward = q->backward_seconds;
    double optimizer = q->optimizer_seconds, step = forward + backward + optimizer;
    run_expect_real(run, "step_seconds", step, TOLERANCE);
    run_mistake_real(run, "optimizer_left_out", forward + backward);
    run_mistake_real(run, "backward_twice_forward", 3.0 * forward + optimizer);
    run_mistake_real(run, "backward_twice_forward", 3.0 * forward);
    run_mistake_real(run, "milliseconds_for_seconds", 1e3 * step);
    run_expect_real(run, "optimizer_share", optimizer / step, TOLERANCE);
    run_mistake_real(run, "optimizer_left_out", 0.0);
    run_mistake_real(run, "share_of_wrong_total", optimizer / (forward + backward));
    run_mistake_real(run, "percent_for_fraction", 100.0 * optimizer / step);
}

// ---- a run -------------------------------------------------------------------------------------
// Backward takes another multiple of forward than two, and than its FLOPs.
static void draw_step(Question *q, Draw *draw) {
    double ratio =
        draw_between(draw, 0, 1) ? draw_real(draw, 1.32, 1.75) : draw_real(draw, 2.3, 3.4);
    TimedModel *times = &q->timed.times;
    q->forward_seconds = q->timed.whole;
    times->backward_us = (int64_t)(1e6 * ratio * q->forward_seconds);
    times->optimizer_us = (int64_t)(1e6 * draw_real(draw, 0.12, 0.27) * q->forward_seconds);
    q->backward_seconds = 1e-6 * (double)times->backward_us;
    q->optimizer_seconds = 1e-6 * (double)times->optimizer_us;
}

static void show(const Question *q, CaseRun *run) {
    run->shown[0] = '\0';
    line_add(run->shown, "%s; forward takes %.3f ms, backward %.3f, optimizer %.3f", q->timed.text,
             1e3 * q->forward_seconds, 1e3 * q->backward_seconds, 1e3 * q->optimizer_seconds);
    line_add(run->asked, "the profile of one training step of the whole batch");
}

static Status ask_of(Draw *draw, CaseRun *run, int ask, const char *text, const char *formula) {
    Question q = {0};
    Status status = timed_case_draw(&q.timed, text, draw);
    if (!status) status = count(&q);
    if (status) return status;
    draw_step(&q, draw);
    snprintf(run->input, sizeof run->input, "ask=%d", ask);
    timed_case_write(&q.timed, draw, run);
    show(&q, run);
    line_add(run->formula, "%s", formula);
    if (ask & ASK_FLOPS) expect_flops(run, &q);
    if (ask & ASK_SECONDS) expect_seconds(run, &q);
    if (ask & ASK_RATIO) expect_ratio(run, &q);
    if (ask & ASK_STEP) expect_step(run, &q);
    return STATUS_OK;
}

static const char *draw_model(Draw *draw, char text[TIMED_TEXT]) {
    long long a = draw_odd(draw, 211, 399), b = draw_odd(draw, 401, 599);
    snprintf(text, TIMED_TEXT, "Linear(%lld,%lld) %s Linear(%lld,%lld) @ %lldx%lld", a, b,
             draw_between(draw, 0, 1) ? "ReLU" : "Tanh", b, (long long)draw_odd(draw, 3, 29),
             (long long)draw_odd(draw, 33, 127), a);
    return text;
}

// ---- cases -------------------------------------------------------------------------------------
static Status gradient_flops(Draw *draw, CaseRun *run) {
    char text[TIMED_TEXT];
    long long channels = draw_odd(draw, 5, 11);
    if (draw->run == 2)
        snprintf(text, sizeof text, "Conv2d(3,%lld,3) ReLU Flatten Linear(%lld,7) @ %lldx3x9x9",
                 channels, 49 * channels, (long long)draw_odd(draw, 5, 17));
    else
        draw_model(draw, text);
    return ask_of(
        draw, run, ASK_FLOPS, text,
        "each product once for its weight, and once for its input but in the first layer");
}

static Status first_layer(Draw *draw, CaseRun *run) {
    char text[TIMED_TEXT];
    long long in = draw_odd(draw, 31, 99);
    snprintf(text, sizeof text,
             draw->run == 0 ? "Linear(%lld,%lld) ReLU @ %lldx%lld"
                            : "Tanh Linear(%lld,%lld) @ %lldx%lld",
             in, (long long)draw_odd(draw, 3, 29), (long long)draw_odd(draw, 5, 29), in);
    return ask_of(draw, run, ASK_FLOPS, text, "nobody wants the gradient of the data: no product");
}

static Status measured_seconds(Draw *draw, CaseRun *run) {
    char text[TIMED_TEXT];
    return ask_of(draw, run, ASK_SECONDS, draw_model(draw, text),
                  "three differences of the clock, in the second step");
}

static Status ratio(Draw *draw, CaseRun *run) {
    char text[TIMED_TEXT];
    return ask_of(draw, run, ASK_RATIO, draw_model(draw, text),
                  "backward seconds / forward seconds, as measured");
}

static Status whole_step(Draw *draw, CaseRun *run) {
    char text[TIMED_TEXT];
    return ask_of(draw, run, ASK_STEP, draw_model(draw, text),
                  "forward + backward + optimizer; optimizer / that sum");
}

// The first layer of three does not learn; or it and the activation's successor do not.
static Status frozen(Draw *draw, CaseRun *run) {
    char text[TIMED_TEXT];
    long long a = draw_odd(draw, 31, 99), b = draw_odd(draw, 101, 149),
              c = draw_odd(draw, 151, 199);
    snprintf(text, sizeof text,
             "Linear(%lld,%lld) ReLU Linear(%lld,%lld) Linear(%lld,%lld) %s @ %lldx%lld", a, b, b,
             c, c, (long long)draw_odd(draw, 3, 29), draw->run == 0 ? "freeze(0)" : "freeze(2)",
             (long long)draw_odd(draw, 5, 29), a);
    return ask_of(draw, run, ASK_FLOPS, text,
                  "a gradient is computed only where it leads to a parameter that wants one");
}

static const ExerciseCase cases[] = {
    {.name = "gradient_flops", .points = 2, .runs = 3, .make = gradient_flops},
    {.name = "first_layer", .points = 1, .runs = 2, .make = first_layer},
    {.name = "measured_seconds", .points = 2, .runs = 3, .make = measured_seconds},
    {.name = "ratio", .points = 1, .runs = 3, .make = ratio},
    {.name = "whole_step", .points = 1, .runs = 3, .make = whole_step},
    {.name = "frozen", .points = 1, .runs = 2, .hidden = true, .make = frozen},
};

static const char *const symbols[] = {"layer_forward",
                                      "loss_cross_entropy",
                                      "autograd_backward",
                                      "optimizer_zero_grad",
                                      "optimizer_step",
                                      "reference_count_flops",
                                      "layer_output_shape",
                                      "tensor_release",
                                      "scope_*",
                                      "error_status",
                                      "clock_gettime",
                                      "clock_getres",
                                      "malloc",
                                      "calloc",
                                      "realloc",
                                      "free",
                                      NULL};

const Exercise exercise_10 = {.number = "10",
                              .name = "profile_backward_pass",
                              .function = "profile_backward_pass",
                              .title = "Profile a training step",
                              .minutes = 60,
                              .points = 8,
                              .symbols = symbols,
                              .cases = cases,
                              .n_cases = sizeof cases / sizeof cases[0]};
