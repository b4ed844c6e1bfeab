// ex08_memory_training.c -- models for exercise 08. The right values are the library's allocations
// in a dry run of a training step (model_case.h); wrong values are those for a changed model, or
// for the layers one by one.
#include <stdio.h>
#include <string.h>

#include "exercises/course/parts.h"
#include "exercises/course/values.h"

// ---- models ------------------------------------------------------------------------------------
// Sizes: $a to $e are up to 900, $A and $B above 40,000, $n the batch, $N a large one, $t rows of a
// sample.
static void write_model(Draw *draw, const char *pattern, int ask, OptimizerKind kind, CaseRun *run,
                        char text[CASE_LINE]) {
    int64_t sizes[128] = {['n'] = draw_between(draw, 2, 9) * 8, ['t'] = draw_between(draw, 5, 7)};
    for (char c = 'a'; c <= 'e'; c++) sizes[(int)c] = draw_between(draw, 20, 900);
    for (char c = 'A'; c <= 'B'; c++) sizes[(int)c] = draw_between(draw, 40000, 60000);
    sizes['N'] = draw_between(draw, 110000, 120000); // N * B exceeds 32 bits, even unsigned
    text_fill(text, CASE_LINE, pattern, sizes);
    snprintf(run->input, sizeof run->input, "ask=%d optimizer=%d model=%s", ask, (int)kind, text);
    snprintf(run->shown, CASE_LINE, "%.170s   %s", text, optimizer_name(kind));
}

// Copies the text with every `old` replaced by `new`; false: it contains no `old`.
static bool replace(const char *text, const char *old, const char *new, char changed[CASE_LINE]) {
    size_t used = 0;
    bool found = false;
    while (*text && used + strlen(new) + 1 < CASE_LINE) {
        bool here = strncmp(text, old, strlen(old)) == 0;
        used += (size_t)snprintf(changed + used, CASE_LINE - used, "%.*s",
                                 here ? (int)strlen(new) : 1, here ? new : text);
        text += here ? strlen(old) : 1;
        found |= here;
    }
    changed[used] = '\0';
    return found;
}

// Counts a changed model, which a mistake takes for the model.
static Status ask_changed(const char *text, OptimizerKind kind, const char *old, const char *new,
                          StepMemory *truth, bool *found) {
    char changed[CASE_LINE];
    *found = replace(text, old, new, changed);
    return *found ? model_case_step(changed, kind, truth) : STATUS_OK;
}

// ---- cases -------------------------------------------------------------------------------------
static Status mistake_partly_frozen(CaseRun *run, const char *text, OptimizerKind kind, int what) {
    static const char *const frozen[] = {".weight)", ".bias)"};
    Status status = STATUS_OK;
    for (int i = 0; i < 2 && !status; i++) {
        StepMemory wrong;
        bool found;
        status = ask_changed(text, kind, frozen[i], ")", &wrong, &found);
        int64_t bytes = what == MEMORY_ASK_GRADIENTS   ? wrong.gradients
                        : what == MEMORY_ASK_OPTIMIZER ? wrong.optimizer
                                                       : wrong.activations;
        if (found && !status) run_mistake_integer(run, "partly_frozen", bytes);
    }
    return status;
}

Status memory_parameters(Draw *draw, CaseRun *run) {
    static const char *const patterns[] = {
        "Linear($a,$b) ReLU Linear($b,$c) ReLU Linear($c,$d) @ $nx$a",
        "Linear($a,$b) ReLU Linear($b,$c) ReLU Linear($c,$d) freeze(0) @ $nx$a",
        "Linear($a,$b) Sequential(ReLU Sequential(Linear($b,$c) ReLU)) @ $nx$a",
        "Linear($a,$b) ReLU Linear($b,$c) freeze(2.weight) @ $nx$a",
        "Linear($a,$b) ReLU Linear($b,$c) freeze(0.bias) @ $nx$a",
        "Linear($A,$B,bias=false) @ $nx$A"};
    char text[CASE_LINE];
    StepMemory truth;
    write_model(draw, patterns[draw->run], MEMORY_ASK_PARAMETERS | MEMORY_ASK_GRADIENTS,
                OPTIMIZER_ADAM, run, text);
    case_say(run, "bytes of parameters, and of gradients",
             "4 * elements; gradients of what is not frozen");
    Status status = model_case_step(text, OPTIMIZER_ADAM, &truth);
    if (status) return status;
    if (draw->run == 2) run_mistake_status(run, "nested_ignored", STATUS_UNKNOWN_OP);
    expect_bytes(run, "parameter_bytes", truth.parameters);
    run_mistake_integer(run, "frozen_skipped", truth.gradients);
    run_mistake_integer(run, "parameters_per_sample", truth.batch * truth.parameters);
    run_mistake_integer(run, "double_precision", 2 * truth.parameters);
    run_mistake_integer(run, "nested_ignored", truth.upper);
    run_mistake_integer(run, "bias_forgotten", truth.parameters - truth.of_linear / truth.batch);
    expect_bytes(run, "gradient_bytes", truth.gradients);
    run_mistake_integer(run, "gradients_forgotten", 0);
    run_mistake_integer(run, "frozen_has_gradient", truth.parameters);
    run_mistake_integer(run, "parameters_per_sample", truth.batch * truth.gradients);
    return status ? status : mistake_partly_frozen(run, text, OPTIMIZER_ADAM, MEMORY_ASK_GRADIENTS);
}

Status memory_optimizer(Draw *draw, CaseRun *run) {
    static const struct {
        OptimizerKind kind;
        const char *pattern;
    } asked[] = {{OPTIMIZER_ADAM, "Linear($a,$b) ReLU Linear($b,$c) @ $nx$a"},
                 {OPTIMIZER_MOMENTUM, "Linear($a,$b) ReLU Linear($b,$c) @ $nx$a"},
                 {OPTIMIZER_SGD, "Linear($a,$b) ReLU Linear($b,$c) @ $nx$a"},
                 {OPTIMIZER_ADAMW, "Linear($a,$b) ReLU Linear($b,$c) freeze(0) @ $nx$a"},
                 {OPTIMIZER_MOMENTUM, "Linear($a,$b) Linear($b,$c) freeze(1.bias) @ $nx$a"},
                 {OPTIMIZER_ADAM, "Linear($A,$B,bias=false) @ $nx$A"}};
    OptimizerKind kind = asked[draw->run].kind;
    bool adam = kind == OPTIMIZER_ADAM || kind == OPTIMIZER_ADAMW;
    char text[CASE_LINE];
    StepMemory truth;
    write_model(draw, asked[draw->run].pattern, MEMORY_ASK_OPTIMIZER, kind, run, text);
    case_say(run, "bytes of the optimizer's state",
             "per parameter: SGD 0, momentum 4, Adam and AdamW 8 bytes");
    Status status = model_case_step(text, kind, &truth);
    expect_bytes(run, "optimizer_bytes", truth.optimizer);
    run_mistake_integer(run, "optimizer_state_forgotten", 0);
    if (adam) run_mistake_integer(run, "adam_one_state", truth.gradients);
    if (adam) run_mistake_integer(run, "adam_three_states", 3 * truth.gradients);
    if (kind != OPTIMIZER_SGD)
        run_mistake_integer(run, "frozen_has_gradient", (adam ? 2 : 1) * truth.parameters);
    if (!status) status = mistake_partly_frozen(run, text, kind, MEMORY_ASK_OPTIMIZER);
    run_mistake_integer(run, "optimizer_ignored", 2 * truth.gradients);
    run_mistake_integer(run, "optimizer_ignored", truth.gradients);
    return status;
}

// Adds the counts of a model without freeze(...), and of activations that swap input and output.
static Status mistake_keeping(CaseRun *run, const char *text) {
    static const char *const sides[][2] = {
        {"ReLU", "GELU"}, {"Tanh", "GELU"}, {"Sigmoid", "GELU"}, {"GELU", "ReLU"}};
    char changed[CASE_LINE];
    StepMemory wrong;
    const char *freeze = strstr(text, "freeze");
    Status status = mistake_partly_frozen(run, text, OPTIMIZER_SGD, MEMORY_ASK_ACTIVATIONS);
    if (freeze && !status) {
        snprintf(changed, sizeof changed, "%.*s%s", (int)(freeze - text), text, strchr(text, '@'));
        status = model_case_step(changed, OPTIMIZER_SGD, &wrong);
        bool partly = strstr(freeze, ".weight)") || strstr(freeze, ".bias)");
        run_mistake_integer(run, partly ? "partly_frozen" : "frozen_keeps", wrong.activations);
    }
    for (size_t i = 0; i < sizeof sides / sizeof sides[0] && !status; i++) {
        bool found;
        status = ask_changed(text, OPTIMIZER_SGD, sides[i][0], sides[i][1], &wrong, &found);
        if (found && !status) run_mistake_integer(run, "input_or_output", wrong.activations);
    }
    return status;
}

static Status ask_activations(Draw *draw, CaseRun *run, const char *pattern) {
    char text[CASE_LINE];
    StepMemory truth = {0};
    write_model(draw, pattern, MEMORY_ASK_ACTIVATIONS, OPTIMIZER_SGD, run, text);
    case_say(run, "bytes kept for backward, whole batch",
             "each kept buffer once, 4 * batch * rows * features");
    if (strstr(text, "Sequential(")) run_mistake_status(run, "nested_ignored", STATUS_UNKNOWN_OP);
    Status status = model_case_step(text, OPTIMIZER_SGD, &truth);
    if (status) return status;
    expect_bytes(run, "activation_bytes", truth.activations);
    run_mistake_integer(run, "activations_forgotten", 0);
    run_mistake_integer(run, "activations_per_sample", truth.activations / truth.batch);
    run_mistake_integer(run, "rows_ignored", truth.activations / truth.rows);
    run_mistake_integer(run, "input_counted", truth.activations + truth.input);
    run_mistake_integer(run, "buffer_counted_twice", truth.unshared);
    status = mistake_keeping(run, text);
    run_mistake_integer(run, "output_only", truth.last);
    run_mistake_integer(run, "every_output", truth.outputs);
    run_mistake_integer(run, "every_output", truth.of_linear);
    run_mistake_integer(run, "every_output", truth.outputs + truth.input);
    return status;
}

static Status ask_unknown(Draw *draw, CaseRun *run, const char *pattern) {
    char text[CASE_LINE];
    write_model(draw, pattern, MEMORY_ASK_ACTIVATIONS, OPTIMIZER_SGD, run, text);
    case_say(run, "the status", "what is unknown is never 0");
    run->status = STATUS_UNKNOWN_OP;
    run_mistake_status(run, "unknown_is_zero", STATUS_OK);
    return STATUS_OK;
}

Status memory_activations(Draw *draw, CaseRun *run) {
    static const char *const patterns[] = {
        "Linear($a,$b) ReLU Linear($b,$c) @ $nx$a",
        "Sequential(Linear($a,$b) ReLU) Linear($b,$c) ReLU Linear($c,$d) @ $nx$a",
        "Linear($a,$b) GELU Linear($b,$c) GELU @ $nx$a",
        "Linear($a,$b,bias=false) Linear($b,$c) Sigmoid Linear($c,$d) ReLU Linear($d,$e) @ $nx$a",
        "Linear($a,$b) ReLU Linear($b,$c) Tanh @ $nx$tx$a",
        "Linear($a,$b) GELU Linear($b,$c) ReLU Linear($c,$d) freeze(0) @ $nx$a",
        "Linear($a,$B) ReLU @ $Nx$a",
        "Linear($a,$b) Mystery($b) @ $nx$a"};
    const char *pattern = patterns[draw->run];
    return strstr(pattern, "Mystery") ? ask_unknown(draw, run, pattern)
                                      : ask_activations(draw, run, pattern);
}

#define SIX_TANH "Tanh Tanh Tanh Tanh Tanh Tanh "

Status memory_kept_buffers(Draw *draw, CaseRun *run) {
    enum { KNOWN = 11, UNKNOWN = 21, REFUSED = 22 }; // ends of the first runs; the refused run
    static const char *const patterns[] = {
        "Linear($a,$b) ReLU Linear($b,$c) ReLU Linear($c,$d) freeze(0) freeze(2) @ $nx$a",
        "Linear($a,$b) GELU Linear($b,$c) GELU Linear($c,$d) freeze(0.weight) freeze(2.weight) "
        "@ $nx$a",
        "Linear($a,$b) Linear($b,$c) Tanh Linear($c,$d) freeze(0.bias) freeze(1.weight) @ $nx$a",
        "Linear($a,$b) GELU Linear($b,$c) GELU Linear($c,$d) freeze(4) @ $nx$a",
        "Linear($a,$b) ReLU Linear($b,$c) GELU Linear($c,$d) freeze(2) @ $nx$a",
        "Linear($a,$b) ReLU Linear($b,$c) freeze(0) freeze(2) @ $nx$a",
        "Linear($a,$b) ReLU GELU Linear($b,$c) Tanh Tanh GELU @ $nx$a",
        "Sequential() GELU Linear($a,$b) ReLU @ $nx3x$tx$a",
        "Sequential(Sequential()) Linear($a,$b) Sequential(Sigmoid) @ $nx$a",
        "Sequential(Linear($a,$b)) Tanh Sequential(Tanh Sequential(Linear($b,$c))) @ $nx$a",
        "Linear($a,$b) " SIX_TANH SIX_TANH SIX_TANH SIX_TANH "@ $nx$a",
        "Sequential(Linear($a,$b) Sequential(ReLU Mystery($b))) Linear($b,$c) @ $nx$a",
        "Mystery($a) @ $nx$a",
        "Residual(Linear($a,$a) ReLU) Linear($a,$b) @ $nx$a",
        "Flatten Linear($a,$b) ReLU freeze(1) @ $nx$a",
        "Linear($a,$b) ReLU6 Linear($b,$c) @ $nx$a",
        "LinearGated($a,$b) ReLU @ $nx$a",
        "Linear($a,$b) LayerNorm($b) ReLU @ $nx$a",
        "Conv2d(3,5,3) ReLU @ $nx3x9x9",
        "ReLU MaxPool2d(2) @ $nx3x8x8",
        "ReLU AvgPool2d(2) @ $nx3x8x8",
        "Linear($a,$b) ReLU Linear($b,$c) @ $nx$a",
        "Linear($a,$b) ReLU Dropout(0.5) Linear($b,$c) @ $nx$a"};
    const char *pattern = patterns[draw->run];
    char text[CASE_LINE];
    if (draw->run < KNOWN) return ask_activations(draw, run, pattern);
    if (draw->run < UNKNOWN) return ask_unknown(draw, run, pattern);
    write_model(draw, pattern, MEMORY_ASK_ACCOUNT, OPTIMIZER_SGD, run, text);
    memory_expect_account(run, draw->run == REFUSED ? STATUS_UNKNOWN_OP : STATUS_OK);
    return STATUS_OK;
}

Status memory_total(Draw *draw, CaseRun *run) {
    static const struct {
        OptimizerKind kind;
        const char *pattern;
    } asked[] = {{OPTIMIZER_ADAM, "Linear($a,$b) ReLU Linear($b,$c) @ $nx$a"},
                 {OPTIMIZER_MOMENTUM,
                  "Linear($a,$b) GELU Linear($b,$c) ReLU Linear($c,$d) freeze(0) @ $nx$a"},
                 {OPTIMIZER_SGD, "Linear($A,$B) ReLU Linear($B,$a) @ $Nx$A"}};
    OptimizerKind kind = asked[draw->run].kind;
    char text[CASE_LINE];
    StepMemory truth;
    write_model(draw, asked[draw->run].pattern, MEMORY_ASK_SUM, kind, run, text);
    case_say(run, "bytes in all", "parameters + gradients + optimizer state + activations");
    Status status = model_case_step(text, kind, &truth);
    int64_t right = truth.parameters + truth.gradients + truth.optimizer + truth.activations;
    expect_bytes(run, "total_bytes", right);
    run_mistake_integer(run, "gradients_forgotten", right - truth.gradients);
    run_mistake_integer(run, "optimizer_state_forgotten", right - truth.optimizer);
    run_mistake_integer(run, "activations_forgotten", right - truth.activations);
    run_mistake_integer(run, "parameters_only", truth.parameters);
    return status;
}

void memory_expect_account(CaseRun *run, Status status) {
    case_say(run, "its status, and what it does with memory of its own",
             "free on every way out; NULL from malloc is STATUS_OUT_OF_MEMORY");
    run_expect_integer(run, "status", status);
    if (status == STATUS_UNKNOWN_OP) run_mistake_integer(run, "unknown_is_zero", STATUS_OK);
    if (status == STATUS_INVALID_ARGUMENT) run_mistake_integer(run, "bad_list_accepted", STATUS_OK);
    run_expect_integer(run, "blocks not freed", 0);
    for (int blocks = 1; blocks <= 8; blocks++)
        run_mistake_integer(run, "memory_not_freed", blocks);
    run_expect_integer(run, "frees of what is not live", 0);
    run_mistake_integer(run, "memory_not_freed", 1);
    run_expect_integer(run, "a NULL went unnoticed", 0);
    run_mistake_integer(run, "null_unchecked", 1);
}

// Decimal megabytes of parameters, gradients and Adam's state: 16 bytes per parameter.
Status memory_by_hand(Draw *draw, CaseRun *run) {
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
    run_mistake_real(run, "adam_three_states", 1.25 * all);
    run_mistake_real(run, "mebibytes_for_megabytes", 1e6 * all / (1024 * 1024));
    run_mistake_real(run, "bytes_for_megabytes", 1e6 * all);
    return STATUS_OK;
}
