// ex01_count_parameters_cases.c -- the cases of exercise 01. The first runs of a case use fixed
// models, which tell mistakes apart; the others draw sizes. The right values come from the
// library's own list of parameters.
#include <stdio.h>

#include "exercises/course/parts.h"
#include "exercises/course/values.h"
#include "profiler/session/profiler.h"

// ---- a run -------------------------------------------------------------------------------------
// Writes the shapes of the parameters as a formula: "5*10 + 5".
static Status say_shapes(const Layer *model, CaseRun *run) {
    ParameterList list;
    Status status = layer_parameters(model, &list);
    if (status) return status;
    for (int i = 0; i < list.count; i++) {
        Shape shape = tensor_shape(list.items[i].tensor);
        line_add(run->formula, "%s", i ? " + " : "");
        for (int k = 0; k < shape.ndim; k++)
            line_add(run->formula, "%s%lld", k ? "*" : "", (long long)shape.dims[k]);
    }
    parameter_list_free(&list);
    return STATUS_OK;
}

// `also`: the model counted by one more mistake, which skips a tied layer as a whole; or NULL.
static Status ask_tied(CaseRun *run, const char *text, const char *also) {
    ModelCase model;
    Status status = model_case_begin(&model, text, run);
    if (status) return model_case_end(&model, status);
    snprintf(run->input, sizeof run->input, "model=%s", text);
    line_add(run->asked, "parameters of the whole model");
    run_expect_integer(run, "", profiler_count_parameters(model.model));
    if (also) status = add_other_model("tied_layer_skipped", also, run);
    if (!status) status = add_parameter_mistakes(text, run);
    if (!status) status = say_shapes(model.model, run);
    return model_case_end(&model, status);
}

static Status ask(CaseRun *run, const char *text) { return ask_tied(run, text, NULL); }

// ---- one layer, and a tree ---------------------------------------------------------------------
// Run 1 follows run 0 in the same program, so a function that keeps its sum adds to that of run 0.
static Status linear(Draw *draw, CaseRun *run) {
    char text[CASE_LINE] = "";
    long long in = draw_odd(draw, 7, 41), out = draw_odd(draw, 43, 99);
    if (draw->run == 0) return ask(run, "Linear(10,5)");
    line_add(text, "Linear(%lld,%lld%s)", in, out, draw->run == 1 ? ",bias=false" : "");
    Status status = ask(run, text);
    if (status || draw->run != 1) return status;
    run_mistake_integer(run, "state_kept", run->values[0].value.integer + 55);
    run_mistake_integer(run, "state_kept", 0);
    return STATUS_OK;
}

static Status tree(Draw *draw, CaseRun *run) {
    static const char *const named[] = {
        "Linear(4,3) ReLU Linear(3,2)",
        "Sequential(Linear(4,4) Tanh) Linear(4,2)",
        "Tanh",
        "Sequential(Sequential() Flatten) MaxPool2d(2)",
        "Residual(Linear(9,9) Residual(Residual(Linear(9,9,bias=false) GELU)) Linear(9,9))",
        ("Linear(3,5) Sequential(Sequential(Sequential(Sequential(Sequential(Sequential(Sequential("
         "Sequential(Sequential(Sequential(Linear(5,7))) Linear(7,1)))))))))"),
        ("Residual(Residual(Residual(Residual(Residual(Residual(Residual(Residual(Residual("
         "Residual(Residual(Residual(Residual(Residual(Residual(Residual(Residual(Linear(3,5)"
         ")))))))))))))))))"),
        "Scaled(Linear(5,3) Scaled(Linear(3,2)))",
        "74*Linear(3,3)"}; // as many tensors as GPT-2 has
    enum { NAMED = sizeof named / sizeof named[0] };
    char text[CASE_LINE] = "";
    long long a = draw_odd(draw, 7, 31), b = draw_odd(draw, 33, 61), c = draw_odd(draw, 3, 15);
    if (draw->run < NAMED) return ask(run, named[draw->run]);
    if (draw->run == NAMED)
        line_add(text, "Linear(%lld,%lld) Tanh Linear(%lld,%lld)", a, b, b, c);
    else
        line_add(text,
                 "Sequential(Linear(%lld,%lld) Sequential(Linear(%lld,%lld) ReLU)) "
                 "Sequential(Sequential(Sequential(Linear(%lld,%lld))))",
                 a, b, b, a, a, c);
    return ask(run, text);
}

// ---- sharing -----------------------------------------------------------------------------------
// A model with shared tensors, and the model counted if the second owner is skipped as a whole.
static const struct {
    const char *text, *skipped;
} ties[] = {
    {"Linear(8,8) Linear(8,8)", NULL}, // equal shapes, nothing shared
    {"Linear(8,8) Linear(8,8) tie(1.weight,0.weight)", "Linear(8,8)"},
    {"Linear(9,5) Linear(5,9) Linear(9,5) tie(2.weight,0.weight)", "Linear(9,5) Linear(5,9)"},
    {"Sequential(Linear(7,5) Tanh) Sequential(Linear(5,7) Sequential(Linear(7,5))) "
     "tie(1.1.0.weight,0.0.weight)",
     "Linear(7,5) Linear(5,7)"},
    {"Linear(6,6) 3*Linear(6,6,bias=false) tie(1.weight,0.weight) tie(3.weight,0.weight)", NULL},
    {"Linear(6,6) Linear(6,6) tie(1.bias,0.bias)", "Linear(6,6)"},
    {"LinearGated(7,5) tie(gate,weight)", NULL}, // one layer owns it twice
    {"72*Linear(5,3) Linear(5,5) Linear(5,5) tie(73.weight,72.weight)", NULL},
    {"530*Linear(5,3) tie(529.weight,522.weight) tie(9.weight,0.weight) tie(521.bias,3.bias) "
     "tie(520.weight,2.weight) tie(519.weight,4.weight) tie(518.weight,5.weight)",
     NULL}, // more tensors than a table of 1024 has room for
};
enum { TIES = sizeof ties / sizeof ties[0] };

static Status tied(Draw *draw, CaseRun *run) {
    char text[CASE_LINE] = "";
    long long n = draw_odd(draw, 7, 61), m = draw_odd(draw, 63, 91);
    if (draw->run < TIES) return ask_tied(run, ties[draw->run].text, ties[draw->run].skipped);
    line_add(text,
             "Sequential(Linear(%lld,%lld) ReLU) Linear(%lld,%lld) Linear(%lld,%lld) "
             "tie(2.weight,0.0.weight) tie(2.bias,0.0.bias)",
             n, m, m, n, n, m);
    return ask(run, text);
}

static Status frozen(Draw *draw, CaseRun *run) {
    char text[CASE_LINE] = "";
    long long a = draw_odd(draw, 7, 31), b = draw_odd(draw, 33, 61), c = draw_odd(draw, 3, 15);
    if (draw->run == 0) return ask(run, "Linear(9,7) GELU Linear(7,5) freeze(0)");
    line_add(text, "Linear(%lld,%lld) GELU Linear(%lld,%lld) freeze(%s)", a, b, b, c,
             draw->run == 1 ? "2.bias" : "0) freeze(2");
    return ask(run, text);
}

// Counts beyond 32 bits: signed, unsigned, only in the sum; then beyond a double's 53 bits.
static Status wide(Draw *draw, CaseRun *run) {
    static const char *const named[] = {"Linear(50000,50000)", "Linear(70000,70000)",
                                        "Linear(50000,40000) Linear(40000,50000)",
                                        "3*Linear(40000,40000)",
                                        "Linear(100000001,100000003,bias=false)"};
    char text[CASE_LINE] = "";
    if (draw->run < 5) return ask(run, named[draw->run]);
    line_add(text, "Linear(50000,%lld)", 50000 + (long long)draw_between(draw, 1, 4000));
    return ask(run, text);
}

// ---- memory ------------------------------------------------------------------------------------
static void expect_given_back(CaseRun *run) {
    static const char *const words[] = {"all of it", "not all of it", "more than was taken", NULL};
    run_expect_word(run, "memory given back", GAVE_ALL, words);
    run_mistake_integer(run, "memory_not_freed", GAVE_NOT_ALL);
    run_mistake_integer(run, "memory_freed_twice", GAVE_MORE);
}

static Status memory(Draw *draw, CaseRun *run) {
    static const char text[] = "Sequential(40*Linear(5,3)) 20*Linear(4,5) "
                               "tie(0.39.weight,0.0.weight) tie(0.38.bias,0.1.bias) "
                               "tie(20.weight,1.weight)";
    static const char *const words[] = {"STATUS_OUT_OF_MEMORY", "STATUS_OK", "another status",
                                        NULL};
    static const int fails[] = {0, 1, 2, 3, 5, 30, 0};
    const char *asked = draw->run < 6 ? text : "Sequential(Tanh Sequential())"; // nothing to count
    Status status = ask(run, asked);
    if (status) return status;
    if (fails[draw->run] == 0) {
        snprintf(run->input, sizeof run->input, "account=1 model=%s", asked);
        expect_given_back(run);
        return STATUS_OK;
    }
    *run = (CaseRun){0};
    snprintf(run->input, sizeof run->input, "fail=%d model=%s", fails[draw->run], text);
    line_add(run->shown, "%s, and request %d for memory gives NULL", text, fails[draw->run]);
    line_add(run->asked, "that there was no memory");
    run_expect_word(run, "when malloc gives NULL", TOLD, words);
    run_mistake_integer(run, "null_unchecked", TOLD_OK);
    expect_given_back(run);
    return STATUS_OK;
}

// ---- whole models ------------------------------------------------------------------------------
// Layers with parameters that are not Linear; an embedding shared with the output layer, as in
// GPT-2; and each model twice.
static Status any_layer(Draw *draw, CaseRun *run) {
    static const char *const named[] = {
        "Conv2d(3,6,3,kernel_w=5,groups=3) Flatten Linear(31,11) Mystery(11)",
        "LinearGated(7,5) ReLU LinearGated(5,3)",
        ("Embedding(101,8) Residual(LayerNorm(8) Linear(8,8)) Linear(8,101,bias=false) "
         "tie(2.weight,0.weight) freeze(1.0)")};
    char text[CASE_LINE] = "", input[2 * CASE_LINE];
    long long a = draw_odd(draw, 3, 9), b = draw_odd(draw, 11, 29), c = draw_odd(draw, 31, 77);
    if (draw->run < 3)
        line_add(text, "%s", named[draw->run]);
    else if (draw->run == 3)
        line_add(text, "Conv2d(%lld,%lld,3,groups=%lld) Flatten Linear(%lld,%lld) Mystery(%lld)", a,
                 a * b, a, c, b, b);
    else
        line_add(text,
                 "Embedding(%lld,%lld) LayerNorm(%lld) Linear(%lld,%lld,bias=false) "
                 "tie(2.weight,0.weight) freeze(1)",
                 100 + c, b, b, b, 100 + c);
    Status status = ask(run, text);
    if (status) return status;
    int64_t count = run->values[0].value.integer;
    snprintf(input, sizeof input, "twice=1 %.*s", CASE_LINE, run->input);
    snprintf(run->input, sizeof run->input, "%s", input);
    run_expect_integer(run, "when called a second time", count);
    run_mistake_integer(run, "state_kept", 2 * count);
    run_mistake_integer(run, "state_kept", 0);
    return STATUS_OK;
}

// ---- by hand -----------------------------------------------------------------------------------
// The feed-forward parts of a transformer's blocks; the course's page uses those of GPT-2.
static Status by_hand(Draw *draw, CaseRun *run) {
    long long blocks = draw->practice ? 12 : draw_between(draw, 5, 47);
    long long width = draw->practice ? 768 : 64 * draw_between(draw, 5, 31);
    long long weights = blocks * 8 * width * width, biases = blocks * 5 * width;
    line_add(run->shown, "%lld blocks of Linear(%lld,%lld) GELU Linear(%lld,%lld)", blocks, width,
             4 * width, 4 * width, width);
    line_add(run->asked, "bytes of the parameters in float32");
    line_add(run->formula, "4 * %lld * (2 * %lld * %lld + %lld + %lld) = 4 * %lld parameters",
             blocks, width, 4 * width, 4 * width, width, weights + biases);
    run_expect_integer(run, "", 4 * (weights + biases));
    run_mistake_integer(run, "bias_forgotten", 4 * weights);
    run_mistake_integer(run, "elements_for_bytes", weights + biases);
    run_mistake_integer(run, "blocks_forgotten", 4 * (weights + biases) / blocks);
    return STATUS_OK;
}

static const ExerciseCase cases[] = {
    {.name = "by_hand", .points = 1, .runs = 1, .by_hand = "01_bytes", .make = by_hand},
    {.name = "linear", .points = 1, .runs = 4, .clauses = "1", .make = linear},
    {.name = "tree", .points = 1, .runs = 11, .clauses = "2", .make = tree},
    {.name = "tied", .points = 1, .runs = TIES + 2, .clauses = "3", .make = tied},
    {.name = "frozen", .points = 1, .runs = 3, .hidden = true, .clauses = "4", .make = frozen},
    {.name = "wide_64_bit", .points = 1, .runs = 6, .clauses = "5", .make = wide},
    {.name = "memory", .points = 1, .runs = 7, .clauses = "6 7", .make = memory},
    {.name = "any_layer",
     .points = 1,
     .runs = 5,
     .hidden = true,
     .clauses = "1 8",
     .make = any_layer},
};

const Exercise exercise_01 = {.number = "01",
                              .name = "count_parameters",
                              .function = "count_parameters",
                              .title = "Count the parameters of a model",
                              .short_track = true,
                              .minutes = 30,
                              .points = 8,
                              .cases = cases,
                              .n_cases = sizeof(cases) / sizeof(cases[0])};
