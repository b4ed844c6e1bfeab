// ex02_count_flops_cases.c -- the cases of exercise 02. The first runs of a case use fixed models,
// which tell mistakes apart; the others draw sizes. The right values come from the library's
// counted cost, layer by layer (scene/reference.c).
#include <stdio.h>

#include "exercises/course/ex02_count_flops_texts.h"
#include "exercises/course/parts.h"
#include "exercises/support/layer_shape.h"
#include "exercises/support/reference.h"

// ---- a run -------------------------------------------------------------------------------------
static long long attribute(const Layer *layer, const char *name) {
    int64_t value = 0;
    layer_attribute(layer, name, &value);
    return (long long)value;
}

// Writes a single layer's formula from the table, with its numbers; for several layers the sum.
static void say_formula(const LeafList *list, CaseRun *run) {
    const Leaf *one = &list->leaves[0];
    for (int i = 0; list->count > 1 && i < list->count; i++)
        line_add(run->formula, "%s%lld", i ? " + " : "", (long long)list->leaves[i].flops);
    if (list->count != 1) return;
    const char *rows = one->in.ndim > 2 ? "rows * " : "";
    if (attribute(one->layer, "in_features")) {
        line_add(run->formula, "2 * %sin * out = 2", rows);
        for (int i = 1; i < one->in.ndim; i++)
            line_add(run->formula, "*%lld", (long long)one->in.dims[i]);
        line_add(run->formula, "*%lld", attribute(one->layer, "out_features"));
    }
    if (attribute(one->layer, "in_channels"))
        line_add(run->formula, "2*Ho*Wo*kh*kw*(in/groups)*out, Ho = %lld, Wo = %lld",
                 (long long)one->out.dims[2], (long long)one->out.dims[3]);
}

static Status fill_in(ModelCase *model, CaseRun *run) {
    LeafList list;
    int64_t flops = 0;
    run->status = reference_count_flops(model->model, model->input, &flops);
    if (run->status == STATUS_SHAPE || run->status == STATUS_UNKNOWN_OP) return STATUS_OK;
    if (run->status) return run->status;
    run_expect_integer(run, "", flops);
    Status status = leaves_of(model->model, model->input, &list);
    if (!status) status = add_flop_mistakes(&list, model->model, run);
    if (!status) say_formula(&list, run);
    return status;
}

static Status ask(CaseRun *run, const char *text) {
    ModelCase model;
    Status status = model_case_begin(&model, text, run);
    snprintf(run->input, sizeof run->input, "model=%s", text);
    line_add(run->asked, "FLOPs for ONE sample");
    if (!status) status = fill_in(&model, run);
    return model_case_end(&model, status);
}

// ---- linear layers -----------------------------------------------------------------------------
// Run 1 follows run 0 in the same program, so a function that keeps its sum adds to that of run 0.
static Status linear(Draw *draw, CaseRun *run) {
    char text[CASE_LINE] = "";
    long long in = draw_odd(draw, 7, 99), out = draw_odd(draw, 101, 299);
    if (draw->run == 0) return ask(run, "Linear(128,64) @ 1x128");
    line_add(text, "Linear(%lld,%lld%s) @ 1x%lld", in, out, draw->run == 1 ? ",bias=false" : "",
             in);
    Status status = ask(run, text);
    if (draw->run == 1 && !status)
        run_mistake_integer(run, "state_kept", run->values[0].value.integer + 16384);
    return status;
}

static Status linear_512_b64(Draw *draw, CaseRun *run) {
    char text[CASE_LINE] = "";
    long long in = draw_odd(draw, 7, 99), out = draw_odd(draw, 101, 299);
    if (draw->run < 2) return ask(run, batch_texts[draw->run]);
    line_add(text, "Linear(%lld,%lld) @ %lldx%lld", in, out, (long long)draw_odd(draw, 3, 129), in);
    return ask(run, text);
}

static Status chain(Draw *draw, CaseRun *run) {
    enum { NAMED = sizeof chain_texts / sizeof chain_texts[0] };
    char text[CASE_LINE] = "";
    long long a = draw_odd(draw, 7, 31), b = draw_odd(draw, 33, 61), c = draw_odd(draw, 63, 95);
    if (draw->run < NAMED) return ask(run, chain_texts[draw->run]);
    line_add(text,
             "Linear(%lld,%lld) GELU Sequential(Linear(%lld,%lld) Sigmoid Dropout(0.5)) "
             "Linear(%lld,5) @ %lldx%lld",
             a, b, b, c, c, (long long)draw_odd(draw, 3, 33), a);
    return ask(run, text);
}

// Asks for the same model with another input, whose count differs: remembering models is wrong.
static Status ask_twice_the_rows(CaseRun *run, const char *text) {
    Status status = ask(run, text);
    if (status) return status;
    int64_t flops = run->values[0].value.integer;
    snprintf(run->input, sizeof run->input, "twice=1 times=2 model=%s", text);
    run_expect_integer(run, "and with twice as many rows", 2 * flops);
    run_mistake_integer(run, "state_kept", flops);
    run_mistake_integer(run, "state_kept", 3 * flops);
    return STATUS_OK;
}

static Status rows(Draw *draw, CaseRun *run) {
    enum { ROWS_TWICE = 3 };
    char text[CASE_LINE] = "";
    long long a = draw_odd(draw, 7, 31), b = draw_odd(draw, 33, 61);
    if (draw->run == ROWS_TWICE) return ask_twice_the_rows(run, rows_texts[draw->run]);
    if (draw->run < 5) return ask(run, rows_texts[draw->run]);
    line_add(text, "Linear(%lld,%lld) ReLU @ %lldx%lldx%lld", a, b,
             (long long)draw_odd(draw, 3, 19), (long long)draw_odd(draw, 21, 63), a);
    return ask(run, text);
}

static Status wide(Draw *draw, CaseRun *run) {
    char text[CASE_LINE] = "";
    long long in = 50000 + draw_between(draw, 1, 4000);
    if (draw->run < 7) return ask(run, wide_texts[draw->run]);
    line_add(text, "Linear(%lld,50000) @ 1x%lld", in, in);
    return ask(run, text);
}

// ---- convolutions ------------------------------------------------------------------------------
static Status conv(Draw *draw, CaseRun *run) {
    enum { NAMED = sizeof conv_texts / sizeof conv_texts[0], FIT = 18 };
    char text[CASE_LINE] = "";
    long long groups = draw_between(draw, 2, 4), in = groups * draw_odd(draw, 3, 7);
    long long out = groups * draw_odd(draw, 3, 9), kernel = draw_odd(draw, 3, 5);
    if (draw->run < NAMED) {
        Status status = ask(run, conv_texts[draw->run]);
        if (draw->run >= FIT) run_mistake_status(run, "fit_refused", STATUS_SHAPE);
        return status;
    }
    line_add(text, "Conv2d(%lld,%lld,%lld,stride=%lld,padding=%lld,groups=%lld) @ 3x%lldx%lldx%lld",
             in, out, kernel, (long long)draw_between(draw, 1, 3),
             (long long)draw_between(draw, 0, 2), groups, in, (long long)draw_between(draw, 11, 40),
             (long long)draw_between(draw, 11, 40));
    return ask(run, text);
}

static Status shapes(Draw *draw, CaseRun *run) {
    enum { NAMED = sizeof shapes_texts / sizeof shapes_texts[0] };
    char text[CASE_LINE] = "";
    long long a = draw_odd(draw, 3, 7), b = draw_odd(draw, 9, 15), c = draw_odd(draw, 17, 25);
    if (draw->run < NAMED) return ask(run, shapes_texts[draw->run]);
    line_add(text,
             "Conv2d(%lld,%lld,3,stride=2) ReLU AvgPool2d(2) Conv2d(%lld,%lld,3) @ "
             "3x%lldx%lldx%lld",
             a, b, b, c, a, (long long)draw_between(draw, 17, 40),
             (long long)draw_between(draw, 17, 40));
    return ask(run, text);
}

// Stores the number of outputs for one sample, for a Flatten.
static Status features_of(const char *layers, const char *shape, long long *features) {
    char text[2 * CASE_LINE];
    ModelCase model;
    CaseRun unused = {0};
    Shape out = {0};
    snprintf(text, sizeof text, "%s @ %s", layers, shape);
    Status status = model_case_begin(&model, text, &unused);
    if (!status) status = layer_output_shape(model.model, model.input, &out);
    *features = 1;
    for (int i = 1; i < out.ndim; i++) *features *= out.dims[i];
    return model_case_end(&model, status);
}

// A small network for images; asks only for the sum, twice.
static Status network(Draw *draw, CaseRun *run) {
    char layers[CASE_LINE] = "", shape[CASE_LINE] = "", text[CASE_LINE] = "";
    char input[2 * CASE_LINE];
    long long a = draw_odd(draw, 3, 5), b = 2 * draw_odd(draw, 5, 9), c = 2 * draw_odd(draw, 9, 13);
    long long height = draw_between(draw, 19, 40), width = draw_between(draw, 19, 40), features;
    if (draw->run == 0) a = 3, b = 10, c = 18, height = 23, width = 36;
    line_add(layers,
             "Sequential(Conv2d(%lld,%lld,3,kernel_w=5,padding=1,padding_left=2) ReLU "
             "MaxPool2d(2,stride_w=3)) Conv2d(%lld,%lld,3,stride_h=2,groups=2,dilation_w=2) Tanh",
             a, b, b, c);
    line_add(shape, "%lldx%lldx%lldx%lld", (long long)draw_odd(draw, 3, 9), a, height, width);
    Status status = features_of(layers, shape, &features);
    line_add(text, "%s Flatten Linear(%lld,10) @ %s", layers, features, shape);
    if (!status) status = ask(run, text);
    if (status) return status;
    int64_t flops = run->values[0].value.integer;
    snprintf(input, sizeof input, "twice=1 %.*s", CASE_LINE + 8, run->input);
    snprintf(run->input, sizeof run->input, "%s", input);
    run_expect_integer(run, "when called a second time", flops);
    run_mistake_integer(run, "state_kept", 2 * flops);
    return STATUS_OK;
}

// ---- errors ------------------------------------------------------------------------------------
static Status refuse(CaseRun *run, WrongText refused) {
    Status status = ask(run, refused.text);
    if (!status && !run->status)
        status = error_set(STATUS_STATE, "exercise 02: %s is no mistake", refused.text);
    run_mistake_status(run, refused.mistake, STATUS_OK);
    return status;
}

static Status unknown_layer(Draw *draw, CaseRun *run) { return refuse(run, unknown[draw->run]); }

// After all refused models comes one that fits: no error may be left over.
static Status wrong_shape(Draw *draw, CaseRun *run) {
    return draw->run < WRONG ? refuse(run, wrong[draw->run]) : ask(run, chain_texts[0]);
}

// ---- by hand ---------------------------------------------------------------------------------
typedef struct ByHand {
    long long width, batch, gigaflops;
} ByHand;
static ByHand by_hand(Draw *draw) {
    if (draw->practice) return (ByHand){512, 64, 50};
    ByHand h = {64 * draw_between(draw, 3, 30), draw_odd(draw, 9, 99), draw_between(draw, 21, 95)};
    return h;
}

static Status by_hand_flops(Draw *draw, CaseRun *run) {
    ByHand h = by_hand(draw);
    int64_t sample = 2 * h.width * h.width;
    line_add(run->shown, "Linear(%lld,%lld)   batch %lld", h.width, h.width, h.batch);
    line_add(run->asked, "FLOPs for the whole batch");
    line_add(run->formula, "%lld * 2 * %lld * %lld = %lld * %lld", h.batch, h.width, h.width,
             h.batch, (long long)sample);
    run_expect_integer(run, "", h.batch * sample);
    run_mistake_integer(run, "mac_vs_flop", h.batch * sample / 2);
    run_mistake_integer(run, "batch_forgotten", sample);
    run_mistake_integer(run, "bias_counted", h.batch * (sample + h.width));
    return STATUS_OK;
}

static Status by_hand_milliseconds(Draw *draw, CaseRun *run) {
    ByHand h = by_hand(draw);
    double flops = (double)(2 * h.batch * h.width * h.width), rate = 1e9 * (double)h.gigaflops;
    double milliseconds = 1e3 * flops / rate;
    line_add(run->shown, "Linear(%lld,%lld)   batch %lld   at %lld GFLOP/s", h.width, h.width,
             h.batch, h.gigaflops);
    line_add(run->asked, "milliseconds of one forward, to 1 %%");
    line_add(run->formula, "1000 * %.0f / %.0f", flops, rate);
    run_expect_real(run, "", milliseconds, 0.01);
    run_mistake_real(run, "mac_vs_flop", milliseconds / 2.0);
    run_mistake_real(run, "batch_forgotten", milliseconds / (double)h.batch);
    run_mistake_real(run, "seconds_for_milliseconds", milliseconds / 1e3);
    run_mistake_real(run, "gflop_for_flop", milliseconds * 1e9);
    return STATUS_OK;
}

static const ExerciseCase cases[] = {
    {.name = "by_hand_flops",
     .points = 1,
     .runs = 1,
     .by_hand = "02_flops_of_batch",
     .make = by_hand_flops},
    {.name = "by_hand_milliseconds",
     .points = 1,
     .runs = 1,
     .by_hand = "02_milliseconds",
     .make = by_hand_milliseconds},
    {.name = "linear", .points = 1, .runs = 4, .clauses = "1 7", .make = linear},
    {.name = "linear_512_b64", .points = 1, .runs = 4, .clauses = "8", .make = linear_512_b64},
    {.name = "chain", .points = 1, .runs = 15, .clauses = "4 6", .make = chain},
    {.name = "rows", .points = 1, .runs = 7, .clauses = "1 4", .make = rows},
    {.name = "wide_64_bit", .points = 1, .runs = 8, .clauses = "9", .make = wide},
    {.name = "conv", .points = 1, .runs = 23, .clauses = "2 3 9", .make = conv},
    {.name = "shapes", .points = 1, .runs = 17, .clauses = "3 5 6", .make = shapes},
    {.name = "unknown_layer",
     .points = 1,
     .runs = UNKNOWN,
     .hidden = true,
     .needs = "linear",
     .clauses = "10",
     .make = unknown_layer},
    {.name = "wrong_shape",
     .points = 1,
     .runs = WRONG + 1,
     .needs = "linear",
     .clauses = "11 12",
     .make = wrong_shape},
    {.name = "network",
     .points = 1,
     .runs = 4,
     .hidden = true,
     .clauses = "2 3 6 12",
     .make = network},
};

const Exercise exercise_02 = {.number = "02",
                              .name = "count_flops",
                              .function = "count_flops",
                              .title = "Count the FLOPs of a model",
                              .short_track = true,
                              .minutes = 60,
                              .points = 12,
                              .cases = cases,
                              .n_cases = sizeof(cases) / sizeof(cases[0])};
