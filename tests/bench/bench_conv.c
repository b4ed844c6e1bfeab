// bench_conv.c -- convolutions, pools and a small network of them beside PyTorch, all in one run
// and in turns, so that their ratios hold whatever else the machine does. Not a test.
//
//     build/normal/tests/bench_conv [part of a name]     RIDGEPOINT_BENCH_SECONDS, _PYTHON: `make
//     bench`
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layers/cost.h"
#include "layers/layers2d.h"
#include "layers/train/fit.h"
#include "tensor/pool.h"
#include "tests/bench/measure.h"
#include "tests/bench/peer.h"

enum { LEAST_ROUNDS = 5, MOST_ROUNDS = 100, CLASSES = 10 };

typedef struct Case {
    const char *name, *peer; // name in the table, and in peer.py
    double goal;             // seconds, on one thread; 0: none
    int64_t x[4];
    int64_t outputs, kernel, padding; // for a convolution; outputs 0: a pool
    int64_t groups;                   // 0: the network
    bool step;
} Case;

// The network: conv 32, 3 x 3 - relu - pool 2 - conv 64, 3 x 3 - relu - pool 2 - fc 128 - relu
// - 10.
static const Case cases[] = {
    {"CNN 28x28, 32: forward", "cnn 32 forward", 3.5e-3, {32, 1, 28, 28}, .groups = 0},
    {"CNN 28x28, 32: SGD step", "cnn 32 sgd", 9e-3, {32, 1, 28, 28}, .groups = 0, .step = true},
    {"conv 64-64 3x3, 56x56, 4", "conv 4 64 56 64 3 1 1", 0, {4, 64, 56, 56}, 64, 3, 1, 1, false},
    {"conv 512-512 3x3, 14x14, 4",
     "conv 4 512 14 512 3 1 1",
     0,
     {4, 512, 14, 14},
     512,
     3,
     1,
     1,
     false},
    {"conv 256-64 1x1, 56x56, 4",
     "conv 4 256 56 64 1 0 1",
     0,
     {4, 256, 56, 56},
     64,
     1,
     0,
     1,
     false},
    {"depthwise 256 3x3, 28x28, 8",
     "conv 8 256 28 256 3 1 256",
     0,
     {8, 256, 28, 28},
     256,
     3,
     1,
     256,
     false},
    {"max pool 2x2, 64x112x112, 4", "pool 4 64 112", 0, {4, 64, 112, 112}, .groups = 1},
};
enum { CASES = sizeof(cases) / sizeof(cases[0]) };

// ---- ours ------------------------------------------------------------------------------------
typedef struct Ours {
    Layer *model;
    Optimizer *optimizer;
    Tensor *x, *labels;
} Ours;

static void check(void) {
    if (!error_pending()) return;
    fprintf(stderr, "bench_conv: %s\n", error_message());
    exit(1);
}

// Runs its children, and flattens images before the first linear layer.
static Tensor *network_forward(Layer *self, Tensor *const in[], int n_in) {
    (void)n_in;
    Tensor *x = in[0];
    for (int i = 0; i < self->n_children && x; i++) {
        bool linear = strcmp(self->children[i]->type->name, "Linear") == 0;
        if (linear && x->shape.ndim == 4) x = tensor_reshape(x, SHAPE(x->shape.dims[0], -1));
        x = layer_forward(self->children[i], x);
    }
    return x;
}
static const LayerType network_type = {.name = "CNN",
                                       .size = sizeof(Layer),
                                       .forward = network_forward};

static Layer *network_new(void) {
    Layer *model = layer_new(&network_type);
    check();
    layer_add_child(model, "conv1", conv2d_new(1, 32, 3, 3, conv2d_defaults(), true));
    layer_add_child(model, "relu1", relu_new());
    layer_add_child(model, "pool1", max_pool2d_new(pool2d_defaults(2)));
    layer_add_child(model, "conv2", conv2d_new(32, 64, 3, 3, conv2d_defaults(), true));
    layer_add_child(model, "relu2", relu_new());
    layer_add_child(model, "pool2", max_pool2d_new(pool2d_defaults(2)));
    layer_add_child(model, "fc1", linear_new(64 * 5 * 5, 128, true));
    layer_add_child(model, "relu3", relu_new());
    layer_add_child(model, "fc2", linear_new(128, CLASSES, true));
    return model;
}

static Ours ours_new(const Case *c) {
    Conv2dOptions options = conv2d_padded(conv2d_defaults(), c->padding);
    Ours ours = {.x = tensor_uniform_new(SHAPE(c->x[0], c->x[1], c->x[2], c->x[3]), 0.0f, 1.0f)};
    options.groups = c->groups;
    ours.model = c->groups == 0 ? network_new()
                 : c->outputs == 0
                     ? max_pool2d_new(pool2d_defaults(2))
                     : conv2d_new(c->x[1], c->outputs, c->kernel, c->kernel, options, true);
    ours.labels = tensor_new(SHAPE(c->x[0]), DTYPE_INT64);
    check();
    for (int64_t i = 0; i < c->x[0]; i++) tensor_labels(ours.labels)[i] = i % CLASSES;
    OptimizerConfig config = optimizer_defaults(OPTIMIZER_SGD);
    config.learning_rate = 1e-7f; // tiny, so that the work stays the same
    if (c->step) ours.optimizer = optimizer_new(ours.model, config);
    check();
    return ours;
}

static void ours_free(Ours *ours) {
    optimizer_free(ours->optimizer);
    layer_free(ours->model);
    tensor_free(ours->x);
    tensor_free(ours->labels);
}

static void run_forward(void *state, int64_t times) {
    Ours *ours = state;
    no_grad_begin();
    for (int64_t i = 0; i < times; i++) {
        Scope *scope = scope_open();
        layer_forward(ours->model, ours->x);
        scope_close(scope);
    }
    no_grad_end();
    check();
}

static void run_step(void *state, int64_t times) {
    Ours *ours = state;
    double loss;
    for (int64_t i = 0; i < times; i++)
        train_step(ours->model, ours->optimizer, ours->x, ours->labels, &loss);
    check();
}

// ---- the table -------------------------------------------------------------------------------
static double flops_of(const Case *c, Ours *ours) {
    LayerCost cost;
    if (layer_cost(ours->model, &ours->x, 1, &cost)) check();
    double macs = 0.0;
    for (int p = 0; p < (c->step ? PHASE_COUNT : 1); p++) macs += (double)cost.phase[p].macs;
    return 2.0 * macs;
}

static void print_row(const Case *c, int threads, double ours, double peer, double flops) {
    char ours_text[MEASURE_TEXT], peer_text[MEASURE_TEXT], goal[MEASURE_TEXT] = "", rate[24] = "-";
    bool judged = c->goal > 0.0 && threads == 1;
    if (flops > 0.0) snprintf(rate, sizeof rate, "%.0f", flops / ours * 1e-9);
    if (judged) measure_text(c->goal, goal);
    printf("%-28s %2d %9s %9s %7.2f %8s %9s %s\n", c->name, threads, measure_text(ours, ours_text),
           measure_text(peer, peer_text), ours / peer, rate, goal,
           !judged           ? ""
           : ours <= c->goal ? "ok"
                             : "over");
    fflush(stdout);
}

static void run_case(const Case *c, int threads, double budget) {
    double ours[MOST_ROUNDS], peer[MOST_ROUNDS];
    int rounds = 0, peers = 0;
    Ours subject = ours_new(c);
    Work work = {.run = c->step ? run_step : run_forward, .state = &subject};
    peer_sample(c->peer, threads, budget / 50.0); // PyTorch makes its choices now
    for (double start = measure_now(); rounds < MOST_ROUNDS; rounds++) {
        if (rounds >= LEAST_ROUNDS && measure_now() - start > budget) break;
        ours[rounds] = measure_work(&work, budget / 50.0);
        double sample = peer_sample(c->peer, threads, budget / 50.0);
        if (!isnan(sample)) peer[peers++] = sample;
    }
    print_row(c, threads, measure_median(ours, rounds), measure_median(peer, peers),
              flops_of(c, &subject));
    ours_free(&subject);
}

int main(int argc, char **argv) {
    int cores = pool_default_threads(), thread_counts = cores > 1 ? 2 : 1;
    double budget = measure_budget(30.0) / (CASES * thread_counts);
    peer_start("tests/bench/peer.py");
    printf("PyTorch %s\n%-28s %2s %9s %9s %7s %8s %9s\n",
           peer_version()[0] ? peer_version() : "none", "workload", "T", "ours", "PyTorch", "x",
           "GFLOP/s", "goal");
    for (int threads = 1; threads <= thread_counts; threads++) {
        context_set_threads(threads);
        for (int i = 0; i < CASES; i++)
            if (argc < 2 || strstr(cases[i].name, argv[1])) run_case(&cases[i], threads, budget);
    }
    printf("x: ours / PyTorch, of the medians of interleaved rounds. T: threads.\n");
    peer_stop();
    context_release_thread();
    return 0;
}
