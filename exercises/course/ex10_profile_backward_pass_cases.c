// ex10_profile_backward_pass_cases.c -- exercise 10 in the grader. FLOPs of gradients come from the
// library's own backward pass in a dry run, times from the schedule.
#include <stdio.h>
#include <string.h>

#include "exercises/course/parts.h"
#include "exercises/course/values.h"
#include "layers/cost.h"

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

static Status count(BackwardQuestion *q) {
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

// ---- a run -------------------------------------------------------------------------------------
// Draws times: backward / forward is neither two nor the ratio of their FLOPs.
static void draw_step(BackwardQuestion *q, Draw *draw) {
    double ratio =
        draw_between(draw, 0, 1) ? draw_real(draw, 1.32, 1.75) : draw_real(draw, 2.3, 3.4);
    ModelTimes *times = &q->timed.times;
    q->forward_seconds = q->timed.whole;
    times->backward_us = (int64_t)(1e6 * ratio * q->forward_seconds);
    times->optimizer_us = (int64_t)(1e6 * draw_real(draw, 0.12, 0.27) * q->forward_seconds);
    times->loss_us = (int64_t)(1e6 * draw_real(draw, 0.07, 0.09) * q->forward_seconds);
    times->zero_us = (int64_t)(1e6 * draw_real(draw, 0.03, 0.04) * q->forward_seconds);
    q->backward_seconds = 1e-6 * (double)times->backward_us;
    q->optimizer_seconds = 1e-6 * (double)times->optimizer_us;
    q->loss_seconds = 1e-6 * (double)times->loss_us;
    q->zero_seconds = 1e-6 * (double)times->zero_us;
}

// Puts the clock event into the middle of that part of the second step.
static void place_event(BackwardQuestion *q, StepPart part) {
    const double parts[] = {q->zero_seconds, q->forward_seconds, q->loss_seconds,
                            q->backward_seconds, q->optimizer_seconds};
    double before = q->timed.all_cold + 2.0 * q->timed.cold - parts[part] / 2.0;
    for (int i = 0; i < PARTS; i++) before += i <= (int)part ? 2.0 * parts[i] : parts[i];
    q->timed.event_us = (int64_t)(1e6 * before);
    q->event_in = part;
}

static void show(const BackwardQuestion *q, CaseRun *run) {
    run->shown[0] = '\0';
    line_add(run->shown, "%s; forward takes %.3f ms, backward %.3f, optimizer %.3f", q->timed.text,
             1e3 * q->forward_seconds, 1e3 * q->backward_seconds, 1e3 * q->optimizer_seconds);
    line_add(run->asked, "the profile of one training step of the whole batch");
}

static Status ask_of(Draw *draw, CaseRun *run, int ask, const char *text, const char *formula) {
    BackwardQuestion q = {0};
    Status status = timed_case_draw(&q.timed, text, draw);
    if (!status) status = count(&q);
    if (status) return status;
    // The discarded first step must be in no number, even if it is the faster one.
    if ((ask & BACKWARD_ASK_SECONDS) && draw->run == 2) timed_case_hurry(&q.timed);
    draw_step(&q, draw);
    place_event(&q, (StepPart[]){FORWARD, BACKWARD, OPTIMIZER}[draw->run % 3]);
    snprintf(run->input, sizeof run->input, "ask=%d", ask);
    timed_case_write(&q.timed, draw, run);
    show(&q, run);
    line_add(run->formula, "%s", formula);
    expect_backward(&q, ask, run);
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
// Fixed texts first, then a drawn one.
static Status ask_models(Draw *draw, CaseRun *run, int ask, const char *const fixed[], int count,
                         const char *formula) {
    char text[TIMED_TEXT];
    Draw own = timed_draw(draw, count);
    return ask_of(&own, run, ask, own.run < count ? fixed[own.run] : draw_model(&own, text),
                  formula);
}
#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

static Status gradient_flops(Draw *draw, CaseRun *run) {
    static const char *const models[] = {
        "Linear(211,403) ReLU Linear(403,7) @ 33x211",
        "Linear(31,47) Tanh Linear(47,59) ReLU Linear(59,5) @ 9x31",
        "Conv2d(3,5,3) ReLU Conv2d(5,7,3) Flatten Linear(175,11) @ 9x3x9x9",
        "Linear(7,5) ReLU Flatten Linear(30,3) @ 4x6x7",      // rows of a sample are no batch
        "Linear(40000,50000) ReLU Linear(50000,3) @ 9x40000", // beyond 32 bits
        "Linear(9,9,bias=false) Linear(9,9,bias=false) Linear(9,4) tie(1.weight,0.weight) @ 5x9"};
    return ask_models(
        draw, run, BACKWARD_ASK_FLOPS, models, COUNT(models),
        "each product once for its weight, and once for its input but in the first layer");
}

static Status first_layer(Draw *draw, CaseRun *run) {
    static const char *const models[] = {"Linear(43,9) ReLU @ 11x43", "Tanh Linear(51,9) @ 11x51",
                                         "Flatten Linear(60,13) @ 11x3x20",
                                         "Conv2d(3,5,3) Flatten @ 11x3x9x9",
                                         "Linear(43,9) @ 11x43"};
    return ask_models(draw, run, BACKWARD_ASK_FLOPS, models, COUNT(models),
                      "nobody wants the gradient of the data: no product");
}

static const char plain[] = "Linear(211,403) ReLU Linear(403,7) @ 33x211";

static Status measured_seconds(Draw *draw, CaseRun *run) {
    static const char *const models[] = {plain, plain, plain};
    return ask_models(
        draw, run, BACKWARD_ASK_SECONDS, models, COUNT(models),
        "three differences of the clock, in a warm step; each step begins with zero_grad");
}

static Status whole_step(Draw *draw, CaseRun *run) {
    static const char *const models[] = {plain};
    return ask_models(draw, run, BACKWARD_ASK_RATIO | BACKWARD_ASK_STEP, models, COUNT(models),
                      "backward / forward; forward + backward + optimizer; optimizer / that sum");
}

// A frozen layer, or a frozen weight, or a frozen bias, at every place.
static Status frozen(Draw *draw, CaseRun *run) {
    static const char three[] = "Linear(43,121) ReLU Linear(121,163) Linear(163,9)";
    static const char *const changes[] = {"freeze(0)",
                                          "freeze(2)",
                                          "freeze(3)",
                                          "freeze(0.weight)",
                                          "freeze(0.bias)",
                                          "freeze(2.weight)",
                                          "freeze(0) freeze(2)",
                                          "freeze(0) freeze(3)",
                                          "freeze(2) freeze(3)",
                                          "freeze(0) freeze(2.weight) freeze(3.weight)",
                                          "freeze(0.weight) freeze(2.weight)"};
    char text[TIMED_TEXT];
    Draw own = timed_draw(draw, COUNT(changes));
    if (own.run < COUNT(changes)) {
        snprintf(text, sizeof text, "%s %s @ 11x43", three, changes[own.run]);
    } else {
        long long a = draw_odd(&own, 31, 99), b = draw_odd(&own, 101, 149);
        snprintf(text, sizeof text,
                 "Linear(%lld,%lld) ReLU Linear(%lld,%lld) freeze(0) @ %lldx%lld", a, b, b,
                 (long long)draw_odd(&own, 3, 29), (long long)draw_odd(&own, 5, 29), a);
    }
    return ask_of(&own, run, BACKWARD_ASK_FLOPS, text,
                  "a gradient is computed only where it leads to a parameter that wants one");
}

static Status nested(Draw *draw, CaseRun *run) {
    static const char *const models[] = {
        "Linear(43,121) Sequential(ReLU Sequential(Linear(121,163) Tanh) Linear(163,9)) @ 11x43",
        "Sequential(Conv2d(3,5,3) ReLU) Sequential(MaxPool2d(2) Conv2d(5,7,2) Flatten) "
        "Linear(28,3) @ 9x3x8x8",
        "Sequential(Linear(43,121) ReLU) Sequential(Linear(121,163) Tanh) Linear(163,9) freeze(0)"
        " @ 11x43",
        "Sequential(Sequential(Linear(43,9))) @ 11x43"};
    return ask_models(draw, run, BACKWARD_ASK_FLOPS | BACKWARD_ASK_SECONDS, models, COUNT(models),
                      "every product of the tree, in the order in which they run");
}

enum { ERRORS = 4 }; // number of runs

static Status errors(Draw *draw, CaseRun *run) {
    static const struct {
        const char *text;
        int labels; // -1: as many as samples
        Status status;
        const char *why;
    } steps[] = {
        {"Linear(5,8) Linear(7,2) @ 3x5", -1, STATUS_SHAPE, "8 numbers do not go into Linear(7,2)"},
        {"Linear(5,8) ReLU @ 3x5", 4, STATUS_SHAPE, "3 samples and 4 labels: the loss fails"},
        {"Linear(5,8) Linear(8,2) freeze(0) freeze(1) @ 3x5", -1, STATUS_STATE,
         "nothing learns: there is nothing to go back to, and backward fails"}};
    Draw own = timed_draw(draw, ERRORS);
    if (draw->run == COUNT(steps)) {
        timed_case_failures("Linear(5,8) Sequential(ReLU Linear(8,2)) @ 3x5", STATUS_OK, &own, run);
        return STATUS_OK;
    }
    TimedCase timed = {.times = {.container_us = 7, .backward_us = 300, .optimizer_us = 90}};
    snprintf(timed.text, sizeof timed.text, "%s", steps[draw->run].text);
    for (int i = 0; i < 3; i++) timed.times.row_us[i] = draw_between(&own, 40, 90);
    if (steps[draw->run].labels >= 0)
        snprintf(run->input, sizeof run->input, "labels=%d", steps[draw->run].labels);
    timed_case_write(&timed, &own, run);
    snprintf(run->shown, CASE_LINE, "%s", timed.text);
    line_add(run->asked, "the status");
    line_add(run->formula, "%s", steps[draw->run].why);
    run->status = steps[draw->run].status;
    run_mistake_status(run, "error_ignored", STATUS_OK);
    return STATUS_OK;
}

static const ExerciseCase cases[] = {
    {.name = "gradient_flops",
     .points = 1,
     .runs = 7,
     .clauses = "9 10 11 12",
     .make = gradient_flops},
    {.name = "first_layer", .points = 1, .runs = 5, .clauses = "11", .make = first_layer},
    {.name = "measured_seconds",
     .points = 2,
     .runs = 4,
     .clauses = "1 2 3 4 5",
     .make = measured_seconds},
    {.name = "whole_step", .points = 1, .runs = 2, .clauses = "6 7 8", .make = whole_step},
    {.name = "frozen", .points = 1, .runs = 12, .hidden = true, .clauses = "10 11", .make = frozen},
    {.name = "nested",
     .points = 1,
     .runs = 4,
     .hidden = true,
     .clauses = "9 10 11",
     .make = nested},
    {.name = "errors",
     .points = 1,
     .runs = ERRORS,
     .needs = "whole_step",
     .clauses = "13 14",
     .make = errors},
};

const Exercise exercise_10 = {.number = "10",
                              .name = "profile_backward_pass",
                              .function = "profile_backward_pass",
                              .title = "Profile a training step",
                              .minutes = 60,
                              .points = 8,
                              .cases = cases,
                              .n_cases = sizeof cases / sizeof cases[0]};
