// ex08_training.c -- models for exercise 08. What is right is what the library's own training step
// allocates in a dry run; what is wrong follows from the sizes that were drawn.
#include <stdio.h>
#include <string.h>

#include "exercises/course/ex08_memory_parts.h"
#include "exercises/course/ex08_values.h"
#include "exercises/support/model_text.h"
#include "layers/cost.h"
#include "layers/train/optimizer.h"

enum { MOST_LINEAR = 4, FLOAT_BYTES = 4 };

typedef struct Net { // Linear, activation, Linear, ...
    int64_t batch, sizes[MOST_LINEAR + 1];
    int n_linear;
    const char *activations[MOST_LINEAR]; // after each Linear; "": none
    bool freeze, nested;                  // the first Linear; the first two layers in a Sequential
    OptimizerKind optimizer;
} Net;

typedef struct Truth { // bytes
    int64_t parameters, gradients, optimizer, activations;
} Truth;

// ---- the library's answer ----------------------------------------------------------------------
static Status run_step(const Layer *model, Shape input, int64_t *saved) {
    Tensor *x = tensor_new_as(input, DTYPE_FLOAT32, MEM_DATA);
    Scope *scope = x ? scope_open() : NULL;
    Tensor *y = scope ? layer_forward((Layer *)model, x) : NULL;
    *saved = autograd_saved_bytes();
    Tensor *grad = y ? tensor_new_as(tensor_shape(y), DTYPE_FLOAT32, MEM_ACTIVATION) : NULL;
    Status status = grad ? autograd_backward_from(y, grad) : error_status();
    tensor_free(grad);
    scope_close(scope);
    tensor_free(x);
    return status;
}

static Status dry_run(const Layer *model, Shape input, OptimizerKind kind, Truth *truth) {
    Context *context = dry_run_begin(model);
    if (!context) return error_status();
    Optimizer *optimizer = optimizer_new(model, optimizer_defaults(kind));
    Status status = optimizer ? run_step(model, input, &truth->activations) : error_status();
    const int64_t *live = context->ledger->live.category;
    truth->parameters = live[MEM_PARAMETER];
    truth->gradients = live[MEM_GRADIENT];
    truth->optimizer = live[MEM_OPTIMIZER];
    optimizer_free(optimizer);
    dry_run_end(context);
    return status;
}

static Status ask_library(const char *text, OptimizerKind kind, Truth *truth) {
    Device *device = context_current()->device;
    context_set_device(device_meta());
    Shape input;
    Layer *model = model_from_text(text, &input);
    Status status = model ? dry_run(model, input, kind, truth) : error_status();
    layer_free(model);
    context_set_device(device);
    return status;
}

// ---- the model ---------------------------------------------------------------------------------
static Net draw_net(Draw *draw, int n_linear, const char *activation) {
    Net net = {.batch = draw_between(draw, 2, 9) * 8,
               .n_linear = n_linear,
               .optimizer = OPTIMIZER_ADAM};
    for (int i = 0; i <= n_linear; i++) net.sizes[i] = draw_between(draw, 20, 900);
    for (int i = 0; i < n_linear; i++) net.activations[i] = i + 1 < n_linear ? activation : "";
    return net;
}

static void append(char *text, const char *piece) {
    strncat(text, piece, CASE_LINE - 1 - strlen(text));
}

static void write_net(const Net *net, char text[CASE_LINE]) {
    char piece[80];
    text[0] = '\0';
    for (int i = 0; i < net->n_linear; i++) {
        bool first = net->nested && i == 0;
        snprintf(piece, sizeof piece, "%sLinear(%lld,%lld)%s%s%s ", first ? "Sequential(" : "",
                 (long long)net->sizes[i], (long long)net->sizes[i + 1],
                 *net->activations[i] ? " " : "", net->activations[i], first ? ")" : "");
        append(text, piece);
    }
    if (net->freeze) append(text, "freeze(0) ");
    snprintf(piece, sizeof piece, "@ %lldx%lld", (long long)net->batch, (long long)net->sizes[0]);
    append(text, piece);
}

static Status begin(CaseRun *run, const Net *net, int ask, Truth *truth) {
    char text[CASE_LINE];
    write_net(net, text);
    *truth = (Truth){0};
    snprintf(run->input, sizeof run->input, "ask=%d optimizer=%d model=%s", ask,
             (int)net->optimizer, text);
    snprintf(run->shown, CASE_LINE, "%.170s   %s", text, optimizer_name(net->optimizer));
    return ask_library(text, net->optimizer, truth);
}

// ---- cases -------------------------------------------------------------------------------------
static void expect_bytes(CaseRun *run, const char *name, int64_t bytes) {
    run_expect_integer(run, name, bytes);
    run_mistake_integer(run, "elements_for_bytes", bytes / FLOAT_BYTES);
    if (bytes < 1024 * 1024) return; // 0 MB: nobody can tell
    run_mistake_integer(run, "megabytes_for_bytes", bytes / 1000000);
    run_mistake_integer(run, "megabytes_for_bytes", bytes / (1024 * 1024));
}

Status training_parameters(Draw *draw, CaseRun *run) {
    Truth truth;
    Net net = draw_net(draw, 3, "ReLU");
    net.freeze = draw->run == 1;
    Status status = begin(run, &net, ASK_PARAMETERS | ASK_GRADIENTS, &truth);
    snprintf(run->asked, CASE_LINE, "bytes of parameters, and of gradients");
    snprintf(run->formula, CASE_LINE, "4 * elements; gradients of what is not frozen");
    expect_bytes(run, "parameter_bytes", truth.parameters);
    run_mistake_integer(run, "parameters_per_sample", net.batch * truth.parameters);
    expect_bytes(run, "gradient_bytes", truth.gradients);
    run_mistake_integer(run, "gradients_forgotten", 0);
    run_mistake_integer(run, "frozen_has_gradient", truth.parameters);
    run_mistake_integer(run, "parameters_per_sample", net.batch * truth.gradients);
    return status;
}

Status training_optimizer(Draw *draw, CaseRun *run) {
    static const OptimizerKind kinds[] = {OPTIMIZER_ADAM, OPTIMIZER_MOMENTUM, OPTIMIZER_SGD,
                                          OPTIMIZER_ADAMW};
    Truth truth;
    Net net = draw_net(draw, 2, "ReLU");
    net.optimizer = kinds[draw->run % 4];
    net.freeze = draw->run == 3;
    Status status = begin(run, &net, ASK_OPTIMIZER, &truth);
    bool adam = net.optimizer == OPTIMIZER_ADAM || net.optimizer == OPTIMIZER_ADAMW;
    snprintf(run->asked, CASE_LINE, "bytes of the optimizer's state");
    snprintf(run->formula, CASE_LINE, "per parameter: SGD 0, momentum 4, Adam and AdamW 8 bytes");
    expect_bytes(run, "optimizer_bytes", truth.optimizer);
    run_mistake_integer(run, "optimizer_state_forgotten", 0);
    if (adam) run_mistake_integer(run, "adam_one_state", truth.gradients);
    if (adam) run_mistake_integer(run, "frozen_has_gradient", 2 * truth.parameters);
    run_mistake_integer(run, "optimizer_ignored", 2 * truth.gradients);
    run_mistake_integer(run, "optimizer_ignored", truth.gradients);
    return status;
}

static void expect_activations(CaseRun *run, const Net *net, const Truth *truth) {
    int64_t of_outputs = 0, of_linear = 0, hidden = 0;
    int64_t unit = FLOAT_BYTES * net->batch;
    for (int i = 0; i < net->n_linear; i++) {
        bool active = *net->activations[i] != '\0';
        of_linear += unit * net->sizes[i + 1];
        of_outputs += unit * net->sizes[i + 1] * (active ? 2 : 1);
        if (i + 1 < net->n_linear) hidden += unit * net->sizes[i + 1];
    }
    int64_t right = truth->activations, input = unit * net->sizes[0];
    expect_bytes(run, "activation_bytes", right);
    run_mistake_integer(run, "activations_forgotten", 0);
    run_mistake_integer(run, "activations_per_sample", right / net->batch);
    run_mistake_integer(run, "output_only", unit * net->sizes[net->n_linear]);
    run_mistake_integer(run, "every_output", of_outputs);
    run_mistake_integer(run, "every_output", of_linear);
    run_mistake_integer(run, "every_output", of_outputs + input);
    run_mistake_integer(run, "input_counted", right + input);
    run_mistake_integer(run, "buffer_counted_twice", right + hidden);
}

static Status unknown_layer(Draw *draw, CaseRun *run) {
    long long n = draw_between(draw, 4, 40);
    char text[CASE_LINE];
    snprintf(text, sizeof text, "Linear(%lld,%lld) Mystery(%lld) @ 8x%lld", n, n, n, n);
    snprintf(run->input, sizeof run->input, "ask=%d optimizer=0 model=%s", ASK_ACTIVATIONS, text);
    snprintf(run->shown, CASE_LINE, "%.170s   SGD", text);
    snprintf(run->asked, CASE_LINE, "the status");
    snprintf(run->formula, CASE_LINE, "what is unknown is never 0");
    run->status = STATUS_UNKNOWN_OP;
    run_mistake_status(run, "unknown_is_zero", STATUS_OK);
    return STATUS_OK;
}

Status training_activations(Draw *draw, CaseRun *run) {
    static const char *const kinds[] = {"ReLU", "Tanh", "GELU", "Sigmoid"};
    if (draw->run == 4) return unknown_layer(draw, run);
    Truth truth;
    Net net = draw_net(draw, 2 + draw->run % 3, kinds[draw->run % 4]);
    net.nested = draw->run == 1;
    net.freeze = draw->run == 3;
    if (draw->run == 2) net.activations[1] = ""; // two Linear in a row
    if (draw->run == 3) net.activations[net.n_linear - 1] = "ReLU";
    Status status = begin(run, &net, ASK_ACTIVATIONS, &truth);
    snprintf(run->asked, CASE_LINE, "bytes kept for backward, whole batch");
    snprintf(run->formula, CASE_LINE, "each kept buffer once, 4 * batch * features");
    expect_activations(run, &net, &truth);
    return status;
}

Status training_total(Draw *draw, CaseRun *run) {
    Truth truth;
    Net net = draw_net(draw, 2 + draw->run % 2, "ReLU");
    Status status = begin(run, &net, ASK_SUM, &truth);
    int64_t right = truth.parameters + truth.gradients + truth.optimizer + truth.activations;
    snprintf(run->asked, CASE_LINE, "bytes in all");
    snprintf(run->formula, CASE_LINE, "parameters + gradients + optimizer state + activations");
    expect_bytes(run, "total_bytes", right);
    run_mistake_integer(run, "gradients_forgotten", right - truth.gradients);
    run_mistake_integer(run, "optimizer_state_forgotten", right - truth.optimizer);
    run_mistake_integer(run, "activations_forgotten", right - truth.activations);
    run_mistake_integer(run, "parameters_only", truth.parameters);
    return status;
}

// Decimal megabytes of parameters, gradients and Adam's state: 16 bytes per parameter.
Status training_by_hand(Draw *draw, CaseRun *run) {
    int64_t millions = draw->practice ? 125 : 25 * draw_between(draw, 6, 40);
    double all = 16.0 * (double)millions;
    snprintf(run->shown, CASE_LINE,
             "a model of %lld,000,000 parameters in float32, trained with Adam",
             (long long)millions);
    snprintf(run->asked, CASE_LINE,
             "MB (10^6 bytes) of parameters, gradients and optimizer state together");
    snprintf(run->formula, CASE_LINE, "(4 + 4 + 8) bytes * %lld,000,000", (long long)millions);
    run_expect_real(run, "", all, 1e-9);
    run_mistake_real(run, "parameters_only", 0.25 * all);
    run_mistake_real(run, "optimizer_state_forgotten", 0.5 * all);
    run_mistake_real(run, "adam_one_state", 0.75 * all);
    run_mistake_real(run, "mebibytes_for_megabytes", 1e6 * all / (1024 * 1024));
    run_mistake_real(run, "bytes_for_megabytes", 1e6 * all);
    return STATUS_OK;
}
