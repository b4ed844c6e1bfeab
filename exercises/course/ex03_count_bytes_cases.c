// ex03_count_bytes_cases.c -- the cases of exercise 03. The first or last runs of each are named
// models, the others are drawn; what is right comes from profiler_count_bytes.
#include "exercises/course/ex03_count_bytes_formula.h"

static void expect(const ModelCase *model, CaseRun *run, const char *name, int64_t bytes) {
    run_expect_integer(run, name, bytes);
    bool writes = run->n_values == 2;
    for (int slip = 0; slip < BYTE_RIGHT; slip++) {
        FormulaTraffic wrong = formula_bytes(model->model, model->input, (ByteSlip)slip, NULL);
        run_mistake_integer(run, byte_slip_names[slip], writes ? wrong.written : wrong.read);
    }
}

static Status ask(CaseRun *run, const char *text) {
    ModelCase model;
    ModelCounts counts;
    Status status = model_case_begin(&model, text, run);
    if (!status) status = model_case_count(&model, &counts);
    if (status) return model_case_end(&model, status);
    line_add(run->asked, "bytes moved by the whole batch");
    run->status = counts.status;
    if (!counts.status) {
        expect(&model, run, "bytes_read", counts.bytes_read);
        expect(&model, run, "bytes_written", counts.bytes_written);
        if (model.model->n_children > 1)
            run_mistake_status(run, "shape_not_propagated", STATUS_SHAPE);
        formula_bytes(model.model, model.input, BYTE_RIGHT, run->formula);
    }
    return model_case_end(&model, STATUS_OK);
}

// Square ones last: there a bias is as large as an input, and mistakes look alike.
static Status linear(Draw *draw, CaseRun *run) {
    char text[CASE_LINE] = "";
    long long in = draw_odd(draw, 7, 99), out = draw_odd(draw, 101, 299);
    if (draw->run == 3) return ask(run, "Linear(512,512) @ 1x512");
    line_add(text, "Linear(%lld,%lld%s) @ 1x%lld", in, out, draw->run == 1 ? ",bias=false" : "",
             in);
    return ask(run, text);
}

static Status weights_once(Draw *draw, CaseRun *run) {
    char text[CASE_LINE] = "";
    long long in = draw_odd(draw, 7, 99), out = draw_odd(draw, 101, 299);
    long long batch = draw_odd(draw, 9, 65);
    if (draw->run == 3) return ask(run, "Linear(512,512) @ 64x512");
    line_add(text, "Linear(%lld,%lld) @ %lldx%lld", in, out, draw->run == 1 ? 3 : batch, in);
    return ask(run, text);
}

static Status activation(Draw *draw, CaseRun *run) {
    static const char *const types[] = {"ReLU", "Sigmoid", "Tanh", "GELU"};
    char text[CASE_LINE] = "";
    line_add(text, "%s @ %lldx%lldx%lld", types[draw->run], (long long)draw_odd(draw, 3, 9),
             (long long)draw_odd(draw, 3, 19), (long long)draw_odd(draw, 3, 99));
    return ask(run, text);
}

static Status views(Draw *draw, CaseRun *run) {
    static const char *const texts[] = {"Flatten @ 8x3x4x4",
                                        "Sequential(Flatten Dropout(0.5)) @ 5x7x3"};
    return ask(run, texts[draw->run]);
}

static Status chain(Draw *draw, CaseRun *run) {
    static const char *const named[] = {"Linear(4,3) ReLU @ 2x4",
                                        "Sequential(Linear(13,13) Tanh) Linear(13,7) @ 5x13"};
    char text[CASE_LINE] = "";
    long long a = draw_odd(draw, 7, 31), b = draw_odd(draw, 33, 61), c = draw_odd(draw, 3, 15);
    if (draw->run < 2) return ask(run, named[draw->run]);
    line_add(text, "Linear(%lld,%lld) GELU Linear(%lld,%lld) @ %lldx%lldx%lld", a, b, b, c,
             (long long)draw_odd(draw, 3, 9), (long long)draw_odd(draw, 11, 33), a);
    return ask(run, text);
}

static Status tied(Draw *draw, CaseRun *run) {
    char text[CASE_LINE] = "";
    long long n = draw->run == 0 ? 8 : draw_odd(draw, 9, 65);
    line_add(text,
             "Linear(%lld,%lld) Tanh Linear(%lld,%lld) tie(2.weight,0.weight) freeze(2) "
             "@ %lldx%lld",
             n, n, n, n, (long long)draw_odd(draw, 3, 17), n);
    return ask(run, text);
}

static Status conv(Draw *draw, CaseRun *run) {
    char text[CASE_LINE] = "";
    long long in = draw_odd(draw, 3, 7), out = draw_odd(draw, 9, 15);
    if (draw->run == 0) return ask(run, "Conv2d(3,16,3) ReLU AvgPool2d(2) @ 1x3x32x32");
    line_add(text, "Conv2d(%lld,%lld,3,stride=2,padding=1) AvgPool2d(3) @ %lldx%lldx%lldx%lld", in,
             out, (long long)draw_odd(draw, 3, 9), in, (long long)draw_between(draw, 17, 40),
             (long long)draw_between(draw, 17, 40));
    return ask(run, text);
}

static Status wide(Draw *draw, CaseRun *run) {
    char text[CASE_LINE] = "";
    long long more = draw->run == 0 ? 0 : draw_between(draw, 1, 4000);
    line_add(text, "Linear(50000,%lld) @ 12000x50000", 50000 + more);
    return ask(run, text);
}

static Status errors(Draw *draw, CaseRun *run) {
    static const char *const texts[] = {"Mystery(5) @ 3x5",
                                        "Linear(4,5) Sequential(Mystery(5)) @ 3x4",
                                        "Linear(10,5) @ 4x7"};
    Status status = ask(run, texts[draw->run]);
    if (run->status == STATUS_SHAPE) {
        run_mistake_status(run, "shape_unchecked", STATUS_OK);
        return status;
    }
    run->status = STATUS_UNKNOWN_OP; // that Mystery is in no table is this exercise's own rule
    run->n_values = run->n_mistakes = 0;
    run->formula[0] = '\0';
    run_mistake_status(run, "unknown_is_zero", STATUS_OK);
    return status;
}

static Status network(Draw *draw, CaseRun *run) {
    char text[CASE_LINE] = "";
    long long a = draw_odd(draw, 3, 5), b = draw_odd(draw, 7, 11);
    long long size = draw_between(draw, 17, 40), pooled = size / 2;
    line_add(text,
             "Sequential(Conv2d(%lld,%lld,3,padding=1) ReLU AvgPool2d(2)) Flatten Linear(%lld,21) "
             "Sigmoid Linear(21,10,bias=false) @ %lldx%lldx%lldx%lld",
             a, b, b * pooled * pooled, (long long)draw_odd(draw, 3, 17), a, size, size);
    return ask(run, text);
}

static const ExerciseCase cases[] = {
    {.name = "linear", .points = 1, .runs = 4, .make = linear},
    {.name = "weights_once", .points = 1, .runs = 4, .make = weights_once},
    {.name = "activation", .points = 1, .runs = 4, .make = activation},
    {.name = "views", .points = 1, .runs = 2, .needs = "activation", .make = views},
    {.name = "chain", .points = 1, .runs = 4, .make = chain},
    {.name = "tied", .points = 1, .runs = 3, .make = tied},
    {.name = "conv", .points = 1, .runs = 3, .make = conv},
    {.name = "wide_64_bit", .points = 1, .runs = 2, .make = wide},
    {.name = "errors", .points = 1, .runs = 3, .needs = "linear", .make = errors},
    {.name = "network", .points = 1, .runs = 4, .hidden = true, .make = network},
};

static const char *const symbols[] = {
    "layer_output_shape", "layer_attribute", "strcmp", "malloc", "calloc", "realloc", "free", NULL};

const Exercise exercise_03 = {.number = "03",
                              .name = "count_bytes",
                              .function = "count_bytes",
                              .title = "Count the bytes that a forward moves",
                              .minutes = 45,
                              .points = 10,
                              .symbols = symbols,
                              .cases = cases,
                              .n_cases = sizeof(cases) / sizeof(cases[0])};
