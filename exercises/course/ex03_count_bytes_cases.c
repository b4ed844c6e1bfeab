// ex03_count_bytes_cases.c -- the cases of exercise 03. The right values come from
// profiler_count_bytes; the wrong values are in ex03_count_bytes_slips.c.
#include "exercises/course/parts.h"

static Status ask(CaseRun *run, const char *text) {
    ModelCase model;
    ModelCounts counts;
    Status status = model_case_begin(&model, text, run);
    if (!status) status = model_case_count(&model, &counts);
    if (status) return model_case_end(&model, status);
    line_add(run->asked, "bytes moved by the whole batch");
    run->status = counts.status;
    if (!counts.status) {
        byte_slips_expect(&model, counts, run);
        if (model.model->n_children > 1)
            run_mistake_status(run, "shape_not_propagated", STATUS_SHAPE);
    } else {
        run_mistake_status(run, "shape_unchecked", STATUS_OK);
    }
    return model_case_end(&model, STATUS_OK);
}

// The table is this exercise's own rule: the library could count some of these layers.
static Status ask_unknown(CaseRun *run, const char *text) {
    snprintf(run->input, sizeof run->input, "%s", text);
    line_add(run->shown, "%s", text);
    line_add(run->asked, "bytes moved by the whole batch");
    run->status = STATUS_UNKNOWN_OP;
    run_mistake_status(run, "unknown_is_zero", STATUS_OK);
    return STATUS_OK;
}

static const char *draw_shape(Draw *draw, char text[CASE_LINE], int ndim) {
    line_add(text, " @ %lld", (long long)draw_odd(draw, 3, 9));
    for (int i = 1; i < ndim; i++) line_add(text, "x%lld", (long long)draw_odd(draw, 3, 19));
    return text;
}

// Square layers come last: there a bias is as large as an input, and mistakes look alike.
static Status linear(Draw *draw, CaseRun *run) {
    static const char *const fixed[] = {"Linear(31,173) @ 1x31", "Linear(31,173,bias=false) @ 3x31",
                                        "Linear(512,512) @ 1x512"};
    char text[CASE_LINE] = "";
    long long in = draw_odd(draw, 7, 99), out = draw_odd(draw, 101, 299);
    if (draw->run < 3) return ask(run, fixed[draw->run]);
    line_add(text, "Linear(%lld,%lld) @ 1x%lld", in, out, in);
    return ask(run, text);
}

static Status weights_once(Draw *draw, CaseRun *run) {
    static const char *const fixed[] = {"Linear(29,151) @ 17x29", "Linear(4,3) @ 7x5x4",
                                        "Linear(512,512) @ 64x512"};
    char text[CASE_LINE] = "";
    long long in = draw_odd(draw, 7, 99), out = draw_odd(draw, 101, 299);
    if (draw->run < 3) return ask(run, fixed[draw->run]);
    line_add(text, "Linear(%lld,%lld) @ %lldx%lld", in, out, (long long)draw_odd(draw, 9, 65), in);
    return ask(run, text);
}

static Status no_weights(Draw *draw, CaseRun *run) {
    static const char *const layers[] = {"ReLU",
                                         "Sigmoid",
                                         "Tanh",
                                         "GELU",
                                         "Flatten",
                                         "Dropout(0.5)",
                                         "Sequential(Flatten Dropout(0.5))"};
    char text[CASE_LINE] = "";
    if (draw->run == 7) return ask(run, "AvgPool2d(3,stride=2,padding=1) @ 2x5x9x16");
    line_add(text, "%s", layers[draw->run]);
    return ask(run, draw_shape(draw, text, 3));
}

static Status chain(Draw *draw, CaseRun *run) {
    static const char *const fixed[] = {
        "Linear(5,9) ReLU Linear(9,4) @ 3x5",
        "Linear(4,3) ReLU @ 2x4",
        "Sequential(Linear(13,13) Tanh) Linear(13,7) @ 5x13",
        "Linear(4,5) Dropout(0.5) Flatten Linear(15,2) @ 2x3x4",
        "Sequential(Sequential(Linear(5,9) Sequential(ReLU)) Linear(9,4)) GELU @ 3x5",
        "Linear(5,9) Sequential() Sigmoid @ 3x5",
        ("Sequential(Sequential(Sequential(Sequential(Sequential(Sequential(Sequential(Sequential("
         "Sequential(Sequential(Sequential(Sequential(Sequential(Tanh))))))))))))) @ 3x5"),
    };
    char text[CASE_LINE] = "";
    long long a = draw_odd(draw, 7, 31), b = draw_odd(draw, 33, 61), c = draw_odd(draw, 3, 15);
    if (draw->run < 7) return ask(run, fixed[draw->run]);
    line_add(text, "Linear(%lld,%lld) GELU Linear(%lld,%lld) @ %lldx%lldx%lld", a, b, b, c,
             (long long)draw_odd(draw, 3, 9), (long long)draw_odd(draw, 11, 33), a);
    return ask(run, text);
}

static Status tied(Draw *draw, CaseRun *run) {
    static const char *const fixed[] = {
        "Linear(9,9) Tanh Linear(9,9) tie(2.weight,0.weight) @ 7x9",
        "Linear(9,7) Tanh Linear(7,9) freeze(0) @ 5x9",
        ("Linear(9,9) Sequential(Linear(9,9) Linear(9,9)) tie(1.0.weight,0.weight) "
         "tie(1.1.weight,0.weight) tie(1.1.bias,0.bias) @ 5x9"),
    };
    char text[CASE_LINE] = "";
    long long n = draw_odd(draw, 9, 65);
    if (draw->run < 3) return ask(run, fixed[draw->run]);
    line_add(text,
             "Linear(%lld,%lld) Tanh Linear(%lld,%lld) tie(2.weight,0.weight) freeze(2) "
             "@ %lldx%lld",
             n, n, n, n, (long long)draw_odd(draw, 3, 17), n);
    return ask(run, text);
}

static Status conv(Draw *draw, CaseRun *run) {
    static const char *const fixed[] = {
        "Conv2d(4,6,3,stride=2,padding=1,groups=2) AvgPool2d(3,stride=2) @ 3x4x11x18",
        "Conv2d(3,16,3) ReLU AvgPool2d(2) @ 1x3x32x32",
        "Conv2d(6,6,3,dilation=2,groups=6,bias=false) Tanh @ 2x6x9x17",
        "Conv2d(4,6,kernel_h=3,kernel_w=5) @ 2x4x9x11",
    };
    char text[CASE_LINE] = "";
    long long in = draw_odd(draw, 3, 7), out = draw_odd(draw, 9, 15);
    if (draw->run < 4) return ask(run, fixed[draw->run]);
    line_add(text, "Conv2d(%lld,%lld,3,stride=2,padding=1) AvgPool2d(3) @ %lldx%lldx%lldx%lld", in,
             out, (long long)draw_odd(draw, 3, 9), in, (long long)draw_between(draw, 17, 28),
             (long long)draw_between(draw, 29, 40));
    return ask(run, text);
}

// The third model moves 2^56 + 2^30 + 4 bytes, which no double can hold exactly.
static Status wide(Draw *draw, CaseRun *run) {
    static const char *const fixed[] = {"ReLU @ 90000x50000", "Linear(50000,50000) @ 12000x50000",
                                        "ReLU @ 1x134217729x134217729"};
    enum { FIXED = sizeof fixed / sizeof fixed[0] };
    char text[CASE_LINE] = "";
    if (draw->run < FIXED) return ask(run, fixed[draw->run]);
    line_add(text, "Linear(50000,%lld) @ 12000x50000", (long long)draw_between(draw, 50001, 54000));
    return ask(run, text);
}

// After all refused models comes one that fits: no error may be left over.
static Status errors(Draw *draw, CaseRun *run) {
    static const char *const unknown[] = {
        "Mystery(5) @ 3x5",
        "Linear(4,5) Sequential(Mystery(5)) @ 3x4",
        "Mystery(5) Linear(5,2) @ 3x5",
        "Conv2d(3,4,3) MaxPool2d(2) @ 2x3x8x10",
        "Linear(4,5) LayerNorm(5) ReLU @ 3x4",
        "Linear(4,5) Residual(ReLU) Linear(5,2) @ 3x4",
        "Linear(4,5) Residual() @ 3x4",
        "ReLU6 @ 2x3",
        "LinearGated(4,5) @ 3x4",
        "AdaptiveAvgPool2d(2,3) @ 2x3x8x9",
    };
    static const char *const others[] = {
        "Linear(10,5) @ 4x7",
        "Linear(10,5) ReLU @ 4x7",
        "Linear(4,5) Sequential(Tanh Linear(6,2)) @ 3x4",
        "Conv2d(3,4,3) @ 2x5x9x8",
        "AvgPool2d(2) @ 4x9",
        "Conv2d(3,4,3) AvgPool2d(7) @ 2x3x8x9",
        "Linear(4,5) Tanh @ 3x4",
    };
    enum { UNKNOWN = sizeof unknown / sizeof unknown[0] };
    if (draw->run < UNKNOWN) return ask_unknown(run, unknown[draw->run]);
    return ask(run, others[draw->run - UNKNOWN]);
}

static Status network(Draw *draw, CaseRun *run) {
    char text[CASE_LINE] = "";
    long long a = draw_odd(draw, 3, 5), b = draw_odd(draw, 7, 11), batch = draw_odd(draw, 3, 17);
    long long h = draw->run == 0 ? 17 : draw_between(draw, 17, 28);
    long long w = draw->run == 0 ? 30 : draw_between(draw, 29, 40);
    line_add(text,
             "Sequential(Conv2d(%lld,%lld,3,padding=1) ReLU AvgPool2d(2)) Flatten Linear(%lld,21) "
             "Sigmoid Linear(21,10,bias=false) @ %lldx%lldx%lldx%lld",
             a, b, b * (h / 2) * (w / 2), batch, a, h, w);
    return ask(run, text);
}

static Status shapes(Draw *draw, CaseRun *run) {
    static const char *const layers[] = {"Tanh", "GELU Sequential(ReLU)"};
    char text[CASE_LINE] = "";
    long long batch = draw_odd(draw, 3, 9), rows = draw_odd(draw, 11, 19);
    if (draw->run < 2) {
        line_add(text, "%s", layers[draw->run]);
        return ask(run, draw_shape(draw, text, draw->run == 0 ? 1 : 6));
    }
    line_add(text, "Linear(5,7) %s @ %lldx3x%lldx5", draw->run == 2 ? "ReLU" : "Flatten Sigmoid",
             batch, rows);
    return ask(run, text);
}

// The numbers of the clauses are those of ex03_count_bytes.h.
static const ExerciseCase cases[] = {
    {.name = "linear", .points = 1, .runs = 4, .clauses = "1 2 3 12", .make = linear},
    {.name = "weights_once", .points = 1, .runs = 4, .clauses = "2 8", .make = weights_once},
    {.name = "no_weights", .points = 1, .runs = 8, .clauses = "4 5", .make = no_weights},
    {.name = "chain", .points = 1, .runs = 9, .clauses = "5 6", .make = chain},
    {.name = "tied", .points = 1, .runs = 4, .clauses = "2 9", .make = tied},
    {.name = "conv", .points = 1, .runs = 5, .clauses = "2 3 4", .make = conv},
    {.name = "wide_64_bit", .points = 1, .runs = 4, .clauses = "11", .make = wide},
    {.name = "errors",
     .points = 1,
     .runs = 17,
     .needs = "linear",
     .clauses = "7 10 12",
     .make = errors},
    {.name = "network", .points = 1, .runs = 4, .hidden = true, .clauses = "5 6", .make = network},
    {.name = "shapes", .points = 1, .runs = 4, .hidden = true, .clauses = "8", .make = shapes},
};

const Exercise exercise_03 = {.number = "03",
                              .name = "count_bytes",
                              .function = "count_bytes",
                              .title = "Count the bytes that a forward moves",
                              .short_track = true,
                              .minutes = 45,
                              .points = 10,
                              .cases = cases,
                              .n_cases = sizeof(cases) / sizeof(cases[0])};
