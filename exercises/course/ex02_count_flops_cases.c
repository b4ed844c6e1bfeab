// ex02_count_flops_cases.c -- the cases of exercise 02. The first runs of each are named models,
// the others are drawn; what is right comes from the library's records of a dry run, counted by
// the textbook's preset.
#include "exercises/course/ex02_count_flops_formula.h"

// ---- a run -----------------------------------------------------------------------------------
// What a single layer's formula is, in letters; rows only where a sample has some.
static void say_symbols(const ModelCase *model, CaseRun *run) {
    int64_t unused;
    if (layer_attribute(model->model, "in_features", &unused))
        line_add(run->formula, "2 * %sin * out = ", model->input.ndim > 2 ? "rows * " : "");
    if (layer_attribute(model->model, "in_channels", &unused))
        line_add(run->formula, "2*Ho*Wo*kh*kw*(in/groups)*out = ");
}

static void add_mistakes(const ModelCase *model, CaseRun *run) {
    for (int slip = 0; slip < FLOP_RIGHT; slip++)
        run_mistake_integer(run, flop_slip_names[slip],
                            formula_flops(model->model, model->input, (FlopSlip)slip, NULL));
    // A student who checks sizes gets an error instead.
    if (model->model->n_children > 1) run_mistake_status(run, "shape_not_propagated", STATUS_SHAPE);
}

static Status ask(CaseRun *run, const char *text) {
    ModelCase model;
    ModelCounts counts;
    Status status = model_case_begin(&model, text, run);
    if (!status) status = model_case_count(&model, &counts);
    if (status) return model_case_end(&model, status);
    line_add(run->asked, "FLOPs for ONE sample");
    run->status = counts.status;
    if (!counts.status) {
        char sum[CASE_LINE] = "";
        run_expect_integer(run, "", counts.flops);
        add_mistakes(&model, run);
        formula_flops(model.model, model.input, FLOP_RIGHT, sum);
        say_symbols(&model, run);
        line_add(run->formula, "%s", sum);
    }
    return model_case_end(&model, STATUS_OK);
}

// ---- linear layers ---------------------------------------------------------------------------
static Status linear(Draw *draw, CaseRun *run) {
    char text[CASE_LINE] = "";
    long long in = draw_odd(draw, 7, 99), out = draw_odd(draw, 101, 299);
    if (draw->run == 0)
        line_add(text, "Linear(128,64) @ 1x128");
    else
        line_add(text, "Linear(%lld,%lld%s) @ 1x%lld", in, out, draw->run == 1 ? ",bias=false" : "",
                 in);
    return ask(run, text);
}

static Status linear_512_b64(Draw *draw, CaseRun *run) {
    static const char *const named[] = {"Linear(512,512) @ 64x512", "Linear(128,64) @ 32x128"};
    char text[CASE_LINE] = "";
    long long in = draw_odd(draw, 7, 99), out = draw_odd(draw, 101, 299);
    if (draw->run < 2) return ask(run, named[draw->run]);
    line_add(text, "Linear(%lld,%lld) @ %lldx%lld", in, out, (long long)draw_odd(draw, 3, 129), in);
    return ask(run, text);
}

static Status chain(Draw *draw, CaseRun *run) {
    static const char *const named[] = {"Linear(128,64) Linear(64,10) @ 1x128",
                                        "Linear(4,3) ReLU Linear(3,2) @ 1x4",
                                        "Sequential(Linear(13,13) Tanh) Linear(13,7) @ 5x13"};
    char text[CASE_LINE] = "";
    long long a = draw_odd(draw, 7, 31), b = draw_odd(draw, 33, 61), c = draw_odd(draw, 63, 95);
    if (draw->run < 3) return ask(run, named[draw->run]);
    line_add(text,
             "Linear(%lld,%lld) GELU Sequential(Linear(%lld,%lld) Sigmoid Dropout(0.5)) "
             "Linear(%lld,5) @ %lldx%lld",
             a, b, b, c, c, (long long)draw_odd(draw, 3, 33), a);
    return ask(run, text);
}

static Status rows(Draw *draw, CaseRun *run) {
    char text[CASE_LINE] = "";
    long long a = draw_odd(draw, 7, 31), b = draw_odd(draw, 33, 61);
    if (draw->run == 0) return ask(run, "Linear(4,3) @ 7x5x4");
    line_add(text, "Linear(%lld,%lld) ReLU @ %lldx%lldx%lld", a, b,
             (long long)draw_odd(draw, 3, 19), (long long)draw_odd(draw, 21, 63), a);
    return ask(run, text);
}

static Status wide(Draw *draw, CaseRun *run) {
    char text[CASE_LINE] = "";
    long long in = draw->run == 0 ? 50000 : 50000 + draw_between(draw, 1, 4000);
    line_add(text, "Linear(%lld,50000) @ 1x%lld", in, in);
    return ask(run, text);
}

// ---- convolutions ----------------------------------------------------------------------------
// First one whose sizes all differ, so that what was forgotten shows.
static Status conv(Draw *draw, CaseRun *run) {
    static const char *const named[] = {"Conv2d(5,7,3) @ 1x5x17x19",
                                        "Conv2d(3,16,3) @ 1x3x32x32",
                                        "Conv2d(3,64,7,stride=2) @ 1x3x224x224",
                                        "Conv2d(3,10,3,padding=3) @ 1x3x28x28",
                                        "Conv2d(6,15,5,padding=1,groups=3) @ 2x6x17x19",
                                        "Conv2d(5,7,3,stride=3,padding=2,dilation=2) @ 3x5x23x21"};
    char text[CASE_LINE] = "";
    long long groups = draw_between(draw, 2, 4), in = groups * draw_odd(draw, 3, 7);
    long long out = groups * draw_odd(draw, 3, 9), kernel = draw_odd(draw, 3, 5);
    if (draw->run < 6) return ask(run, named[draw->run]);
    line_add(text, "Conv2d(%lld,%lld,%lld,stride=%lld,padding=%lld,groups=%lld) @ 3x%lldx%lldx%lld",
             in, out, kernel, (long long)draw_between(draw, 1, 3),
             (long long)draw_between(draw, 0, 2), groups, in, (long long)draw_between(draw, 11, 40),
             (long long)draw_between(draw, 11, 40));
    return ask(run, text);
}

static Status shapes(Draw *draw, CaseRun *run) {
    char text[CASE_LINE] = "";
    long long a = draw_odd(draw, 3, 7), b = draw_odd(draw, 9, 15), c = draw_odd(draw, 17, 25);
    if (draw->run == 0) return ask(run, "Conv2d(1,2,3) Conv2d(2,3,3) @ 1x1x8x8");
    line_add(text,
             "Conv2d(%lld,%lld,3,stride=2) ReLU AvgPool2d(2) Conv2d(%lld,%lld,3) @ "
             "3x%lldx%lldx%lld",
             a, b, b, c, a, (long long)draw_between(draw, 17, 40),
             (long long)draw_between(draw, 17, 40));
    return ask(run, text);
}

// A small network for images, of which only the sum is asked.
static Status network(Draw *draw, CaseRun *run) {
    char text[CASE_LINE] = "";
    long long a = draw_odd(draw, 3, 5), b = 2 * draw_odd(draw, 5, 9), c = 2 * draw_odd(draw, 9, 13);
    long long size = draw_between(draw, 17, 40);
    long long pooled = size / 2, last = (pooled - 3) / 2 + 1;
    line_add(text,
             "Sequential(Conv2d(%lld,%lld,3,padding=1) ReLU MaxPool2d(2)) "
             "Conv2d(%lld,%lld,3,stride=2,groups=2) Tanh Flatten Linear(%lld,10) "
             "@ %lldx%lldx%lldx%lld",
             a, b, b, c, c * last * last, (long long)draw_odd(draw, 3, 9), a, size, size);
    return ask(run, text);
}

// ---- errors ----------------------------------------------------------------------------------
static Status unknown_layer(Draw *draw, CaseRun *run) {
    static const char *const texts[] = {
        "Mystery(5) @ 3x5", "Linear(4,5) Sequential(Mystery(5) ReLU) Linear(5,2) @ 3x4"};
    Status status = ask(run, texts[draw->run]);
    run->status = STATUS_UNKNOWN_OP; // that Mystery is in no table is this exercise's own rule
    run->n_values = run->n_mistakes = 0;
    run->formula[0] = '\0';
    run_mistake_status(run, "unknown_is_zero", STATUS_OK);
    return status;
}

static Status wrong_shape(Draw *draw, CaseRun *run) {
    static const char *const texts[] = {
        "Linear(10,5) @ 4x7",    "Linear(6,4) ReLU Linear(5,2) @ 2x6", "Conv2d(3,8,3) @ 1x4x9x9",
        "Conv2d(3,8,3) @ 1x3x9", "Conv2d(3,8,7,padding=1) @ 1x3x4x9",  "AvgPool2d(2) @ 4x9",
        "MaxPool2d(5) @ 1x2x9x4"};
    Status status = ask(run, texts[draw->run]);
    run_mistake_status(run, "shape_unchecked", STATUS_OK);
    return status;
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
    {.name = "linear", .points = 1, .runs = 4, .make = linear},
    {.name = "linear_512_b64", .points = 1, .runs = 4, .make = linear_512_b64},
    {.name = "chain", .points = 1, .runs = 5, .make = chain},
    {.name = "rows", .points = 1, .runs = 3, .make = rows},
    {.name = "wide_64_bit", .points = 1, .runs = 2, .make = wide},
    {.name = "conv", .points = 1, .runs = 9, .make = conv},
    {.name = "shapes", .points = 1, .runs = 3, .make = shapes},
    {.name = "unknown_layer", .points = 1, .runs = 2, .needs = "linear", .make = unknown_layer},
    {.name = "wrong_shape", .points = 1, .runs = 7, .needs = "linear", .make = wrong_shape},
    {.name = "network", .points = 1, .runs = 4, .hidden = true, .make = network},
};

static const char *const symbols[] = {"layer_attribute", "strcmp", "malloc", "calloc",
                                      "realloc",         "free",   NULL};

const Exercise exercise_02 = {.number = "02",
                              .name = "count_flops",
                              .function = "count_flops",
                              .title = "Count the FLOPs of a model",
                              .minutes = 60,
                              .points = 12,
                              .symbols = symbols,
                              .cases = cases,
                              .n_cases = sizeof(cases) / sizeof(cases[0])};
