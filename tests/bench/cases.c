// cases.c -- the list of cases, and their preparation: same data and parameters on both sides.
#include "tests/bench/cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

const double cases_by_hand_goal = 1.10;

#define PERCEPTRON(text, peer_text, batch_size, adam_too, run_ours, run_hand)                      \
    {                                                                                              \
        .name = "MLP batch " text, .peer = "mlp 784-512-256-10 " peer_text, .items = 1,            \
        .any_threads = true, .sizes = {784, 512, 256, 10}, .batch = batch_size, .adam = adam_too,  \
        .ours = run_ours, .hand_net = run_hand                                                     \
    }
#define FORWARD(batch)                                                                             \
    PERCEPTRON(#batch ", forward", #batch " forward", batch, false, ours_net_forward,              \
               hand_net_forward)
#define STEP(batch, text, peer_text, adam)                                                         \
    PERCEPTRON(#batch ", " text " step", #batch " " peer_text, batch, adam, ours_net_step,         \
               hand_net_step)
#define OP(text, op, rows, columns, two)                                                           \
    {                                                                                              \
        .name = text, .peer = #op " " #rows " " #columns, .items = 1, .any_threads = true,         \
        .sizes = {rows, columns}, .two_inputs = two, .ours = ours_##op, .hand_op = hand_##op       \
    }

const Case cases[] = {
    {.name = "dispatch of one op",
     .peer = "chain",
     .goal = 100e-9,
     .items = OURS_CHAIN,
     .sizes = {1},
     .ours = ours_chain},
    {.name = "... with tape and backward",
     .peer = "chain_backward",
     .goal = 300e-9,
     .items = OURS_CHAIN,
     .sizes = {1},
     .ours = ours_chain_backward},
    {.name = "8-8-8-4 net, SGD step",
     .peer = "mlp 8-8-8-4 1 sgd",
     .goal = 3e-6,
     .items = 1,
     .sizes = {8, 8, 8, 4},
     .batch = 1,
     .ours = ours_net_step,
     .hand_net = hand_net_step},
    FORWARD(1),
    STEP(1, "SGD", "sgd", false),
    STEP(1, "Adam", "adam", true),
    FORWARD(64),
    STEP(64, "SGD", "sgd", false),
    STEP(64, "Adam", "adam", true),
    STEP(1024, "SGD", "sgd", false),
    OP("softmax 4096 x 1024", softmax, 4096, 1024, false),
    OP("layer norm 4096 x 1024", layer_norm, 4096, 1024, false),
    OP("add, 16 MB", add, 4096, 1024, true),
    OP("relu, 16 MB", relu, 4096, 1024, false),
    OP("gelu, 16 MB", gelu, 4096, 1024, false),
    OP("exp, 16 MB", exp, 4096, 1024, false),
};
const int n_cases = sizeof(cases) / sizeof(cases[0]);

static int size_count(const Case *of) {
    int n = 0;
    while (n < CASE_SIZES && of->sizes[n] > 0) n++;
    return n;
}

// ---- by hand -----------------------------------------------------------------------------------
static void run_hand_net(void *argument, int64_t times) {
    Subject *subject = argument;
    for (int64_t i = 0; i < times; i++) subject->of->hand_net(subject->hand_net);
}

bool case_by_row(const Case *of) {
    return of->hand_op == hand_softmax || of->hand_op == hand_layer_norm;
}

static void run_hand_op(void *argument, int64_t times) {
    enum { GRAIN_ELEMENTS = 1024 };
    Subject *subject = argument;
    bool by_row = case_by_row(subject->of);
    int64_t rows = subject->of->sizes[0], columns = subject->of->sizes[1];
    for (int64_t i = 0; i < times; i++)
        hand_parallel(by_row ? rows : rows * columns, by_row ? 1 : GRAIN_ELEMENTS,
                      subject->of->hand_op, &subject->hand_op);
}

// Copies the engine's parameters, input and labels.
static void copy_net(Subject *subject) {
    HandNet *hand = subject->hand_net;
    ParameterList list;
    layer_parameters(subject->net.model, &list);
    ours_check();
    float *to = hand->parameters;
    for (int i = 0; i < list.count; to += list.items[i++].tensor->numel)
        tensor_read_floats(list.items[i].tensor, to);
    parameter_list_free(&list);
    hand->value[0] = tensor_data(subject->net.x);
    hand->labels = tensor_labels(subject->net.labels);
    ours_check();
}

// ---- one case ----------------------------------------------------------------------------------
static void nets_new(Subject *subject, float learning_rate) {
    const Case *of = subject->of;
    OptimizerConfig config = optimizer_defaults(of->adam ? OPTIMIZER_ADAM : OPTIMIZER_SGD);
    config.learning_rate = learning_rate;
    ours_net_new(&subject->net, of->sizes, size_count(of), of->batch, config);
    subject->hand_net = hand_net_new(of->sizes, size_count(of), of->batch, of->adam);
    subject->hand_net->learning_rate = learning_rate;
    copy_net(subject);
}

static void nets_free(Subject *subject) {
    ours_net_free(&subject->net);
    hand_net_free(subject->hand_net);
}

static void check_losses(Subject *subject) {
    enum { STEPS = 5 };
    for (int i = 0; i < STEPS; i++) {
        ours_net_step(&subject->net, 1);
        ours_check();
        hand_net_step(subject->hand_net);
        double ours = subject->net.loss, hand = (double)subject->hand_net->loss;
        if (fabs(ours - hand) <= 1e-4 * fabs(hand)) continue;
        fprintf(stderr, "bench: %s: the loss of step %d is %.7g, by hand %.7g\n", subject->of->name,
                i + 1, ours, hand);
        exit(1);
    }
}

static void prepare_net(Subject *subject) {
    nets_new(subject, subject->of->adam ? 1e-3f : 0.1f);
    check_losses(subject);
    nets_free(subject);
    // The timed steps hardly learn, or gradients would shrink to denormal numbers, which are slow.
    nets_new(subject, 1e-7f);
    subject->ours = (Work){.run = subject->of->ours, .state = &subject->net};
    subject->hand = (Work){.run = run_hand_net, .state = subject};
}

static void prepare_op(Subject *subject) {
    const Case *of = subject->of;
    Shape shape = {.ndim = size_count(of)};
    for (int i = 0; i < shape.ndim; i++) shape.dims[i] = of->sizes[i];
    ours_op_new(&subject->op, shape, of->two_inputs);
    subject->ours = (Work){.run = of->ours, .state = &subject->op};
    if (!of->hand_op) return;
    subject->hand_op = (HandArrays){.a = tensor_data(subject->op.a),
                                    .b = of->two_inputs ? tensor_data(subject->op.b) : NULL,
                                    .weight = tensor_data(subject->op.weight),
                                    .bias = tensor_data(subject->op.bias),
                                    .y = measure_memory((size_t)tensor_bytes(subject->op.a)),
                                    .columns = of->sizes[1]};
    subject->hand = (Work){.run = run_hand_op, .state = subject};
}

void subject_new(Subject *subject, const Case *of) {
    *subject = (Subject){.of = of};
    if (of->batch > 0)
        prepare_net(subject);
    else
        prepare_op(subject);
}

void subject_free(Subject *subject) {
    if (subject->of->batch > 0)
        nets_free(subject);
    else
        ours_op_free(&subject->op);
    free(subject->hand_op.y);
}
