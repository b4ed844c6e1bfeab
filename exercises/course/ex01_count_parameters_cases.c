// ex01_count_parameters_cases.c -- the cases of exercise 01. The first run of each is a named
// model, the others are drawn; what is right comes from the library's own list of parameters.
#include "exercises/course/ex01_count_parameters_formula.h"
#include "profiler/profiler.h"

static Status ask(CaseRun *run, const char *text) {
    ModelCase model;
    Status status = model_case_begin(&model, text, run);
    if (status) return model_case_end(&model, status);
    line_add(run->asked, "parameters of the whole model");
    run_expect_integer(run, "", profiler_count_parameters(model.model));
    for (int slip = 0; slip < PARAMETER_RIGHT; slip++)
        run_mistake_integer(run, parameter_slip_names[slip],
                            formula_parameters(model.model, (ParameterSlip)slip, NULL));
    formula_parameters(model.model, PARAMETER_RIGHT, run->formula);
    return model_case_end(&model, STATUS_OK);
}

static Status linear(Draw *draw, CaseRun *run) {
    char text[CASE_LINE] = "";
    long long in = draw_odd(draw, 7, 41), out = draw_odd(draw, 43, 99);
    if (draw->run == 0)
        line_add(text, "Linear(10,5)");
    else
        line_add(text, "Linear(%lld,%lld%s)", in, out, draw->run == 1 ? ",bias=false" : "");
    return ask(run, text);
}

static Status no_parameters(Draw *draw, CaseRun *run) {
    static const char *const texts[] = {"ReLU", "Sequential(Tanh Flatten MaxPool2d(2))"};
    return ask(run, texts[draw->run]);
}

static Status tree(Draw *draw, CaseRun *run) {
    char text[CASE_LINE] = "";
    long long a = draw_odd(draw, 7, 31), b = draw_odd(draw, 33, 61), c = draw_odd(draw, 3, 15);
    if (draw->run == 0)
        line_add(text, "Linear(4,3) ReLU Linear(3,2)");
    else if (draw->run == 1)
        line_add(text, "Sequential(Linear(4,4) Tanh) Linear(4,2)");
    else if (draw->run == 2)
        line_add(text, "Linear(%lld,%lld) Tanh Linear(%lld,%lld)", a, b, b, c);
    else
        line_add(text,
                 "Sequential(Linear(%lld,%lld) Sequential(Linear(%lld,%lld) ReLU)) "
                 "Sequential(Sequential(Sequential(Linear(%lld,%lld))))",
                 a, b, b, a, a, c);
    return ask(run, text);
}

// Run 0: same shape, not tied. Then a weight, then a weight and a bias far apart.
static Status tied(Draw *draw, CaseRun *run) {
    char text[CASE_LINE] = "";
    long long n = draw_odd(draw, 7, 61), m = draw_odd(draw, 63, 91);
    if (draw->run == 0)
        line_add(text, "Linear(8,8) Linear(8,8)");
    else if (draw->run == 1)
        line_add(text, "Linear(8,8) Linear(8,8) tie(1.weight,0.weight)");
    else
        line_add(text,
                 "Sequential(Linear(%lld,%lld) ReLU) Linear(%lld,%lld) Linear(%lld,%lld) "
                 "tie(2.weight,0.0.weight) tie(2.bias,0.0.bias)",
                 n, m, m, n, n, m);
    return ask(run, text);
}

static Status frozen(Draw *draw, CaseRun *run) {
    char text[CASE_LINE] = "";
    long long a = draw_odd(draw, 7, 31), b = draw_odd(draw, 33, 61), c = draw_odd(draw, 3, 15);
    line_add(text, "Linear(%lld,%lld) GELU Linear(%lld,%lld) freeze(%s)", a, b, b, c,
             draw->run == 0 ? "0" : "2.bias");
    return ask(run, text);
}

static Status wide(Draw *draw, CaseRun *run) {
    char text[CASE_LINE] = "";
    long long more = draw_between(draw, 1, 4000);
    line_add(text, "Linear(50000,%lld)", draw->run == 0 ? 50000 : 50000 + more);
    return ask(run, text);
}

// Layers that have parameters without being linear; run 1: an embedding that is the output layer,
// as in GPT-2.
static Status any_layer(Draw *draw, CaseRun *run) {
    char text[CASE_LINE] = "";
    long long a = draw_odd(draw, 3, 9), b = draw_odd(draw, 11, 29), c = draw_odd(draw, 31, 77);
    if (draw->run == 0)
        line_add(text, "Conv2d(%lld,%lld,3,groups=%lld) Flatten Linear(%lld,%lld) Mystery(%lld)", a,
                 a * b, a, c, b, b);
    else
        line_add(text,
                 "Embedding(%lld,%lld) LayerNorm(%lld) Linear(%lld,%lld,bias=false) "
                 "tie(2.weight,0.weight) freeze(1)",
                 100 + c, b, b, b, 100 + c);
    return ask(run, text);
}

// The feed-forward parts of the blocks of a transformer: GPT-2's on the course's page.
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
    {.name = "linear", .points = 1, .runs = 4, .make = linear},
    {.name = "no_parameters", .points = 1, .runs = 2, .needs = "linear", .make = no_parameters},
    {.name = "tree", .points = 1, .runs = 4, .make = tree},
    {.name = "tied", .points = 1, .runs = 4, .make = tied},
    {.name = "frozen", .points = 1, .runs = 2, .make = frozen},
    {.name = "wide_64_bit", .points = 1, .runs = 2, .make = wide},
    {.name = "any_layer", .points = 1, .runs = 2, .hidden = true, .make = any_layer},
};

static const char *const symbols[] = {"layer_attribute", "strcmp", "malloc", "calloc",
                                      "realloc",         "free",   NULL};

const Exercise exercise_01 = {.number = "01",
                              .name = "count_parameters",
                              .function = "count_parameters",
                              .title = "Count the parameters of a model",
                              .minutes = 30,
                              .points = 8,
                              .symbols = symbols,
                              .cases = cases,
                              .n_cases = sizeof(cases) / sizeof(cases[0])};
