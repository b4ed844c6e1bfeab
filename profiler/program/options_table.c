// options_table.c -- every flag in one table: its help, and how it takes its argument. The order is
// that of the help.
#include "profiler/program/options_table.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool refuse(const Flag *flag, const char *text, const char *expected) {
    fprintf(stderr, "profile_mlp: --%s %s: expected %s\n", flag->name, text, expected);
    return false;
}

static bool whole_number(const char *text, char **end, int64_t *value) {
    errno = 0;
    *value = strtoll(text, end, 10);
    return *end != text && errno == 0;
}

static bool take_count(Options *options, const Flag *flag, const char *text) {
    char *end, expected[80];
    int64_t value;
    if (whole_number(text, &end, &value) && !*end && value >= flag->least && value <= flag->most) {
        *(int64_t *)(void *)((char *)options + flag->offset) = value;
        return true;
    }
    snprintf(expected, sizeof(expected), "a whole number from %lld to %lld", (long long)flag->least,
             (long long)flag->most);
    return refuse(flag, text, expected);
}

static bool take_layers(Options *options, const Flag *flag, const char *text) {
    int n = 0;
    const char *at = text;
    for (;;) {
        char *end;
        int64_t size;
        if (n == OPTIONS_MAX_LAYERS) return refuse(flag, text, "at most 64 sizes");
        if (!whole_number(at, &end, &size) || size < 1 || size > INT32_MAX)
            return refuse(flag, text, "sizes of at least 1 with commas between, as 784,512,10");
        options->layers[n++] = size;
        if (!*end) break;
        if (*end != ',') return refuse(flag, text, "sizes with commas between, as 784,512,10");
        at = end + 1;
    }
    options->n_layers = n;
    return n >= 2 || refuse(flag, text, "an input and an output size, as 784,10");
}

static bool take_activation(Options *options, const Flag *flag, const char *text) {
    options->activation = op_activation_by_name(text);
    if (options->activation || strcmp(text, "none") == 0) return true;
    char names[400] = "none";
    const Op *op;
    for (int i = 0; (op = op_activation_at(i)); i++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof(names) - used, ", %s", op->name);
    }
    return refuse(flag, text, names);
}

static bool take_optimizer(Options *options, const Flag *flag, const char *text) {
    for (int k = 0; k < OPTIMIZER_COUNT; k++)
        if (strcmp(text, optimizer_flag((OptimizerKind)k)) == 0) {
            options->optimizer = (OptimizerKind)k;
            return true;
        }
    return refuse(flag, text, "sgd, momentum, adam or adamw");
}

static bool take_learning_rate(Options *options, const Flag *flag, const char *text) {
    char *end;
    double value = strtod(text, &end);
    bool usable = (float)value > 0.0f && isfinite((float)value); // as the steps will use it
    if (end == text || *end || !usable)
        return refuse(flag, text, "a number above 0 that a float can hold, as 0.001");
    options->learning_rate = value;
    return true;
}

static bool take_device(Options *options, const Flag *flag, const char *text) {
    static const char *const names[] = {"cpu", "cuda", "meta"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(text, names[i]) == 0) {
            options->device = names[i];
            return true;
        }
    return refuse(flag, text, "cpu, cuda or meta");
}

static bool take_text(Options *options, const Flag *flag, const char *text) {
    *(const char **)(void *)((char *)options + flag->offset) = text;
    return true;
}
static bool take_switch(Options *options, const Flag *flag, const char *text) {
    (void)text;
    *(bool *)(void *)((char *)options + flag->offset) = true;
    return true;
}

static bool take_explain(Options *options, const Flag *flag, const char *text) {
    if (text && !text[0]) return refuse(flag, text, "a LAYER or pattern, as fc1 or 'fc*'");
    options->explain_layer = text;
    options->explain = true;
    return true;
}

static bool take_by(Options *options, const Flag *flag, const char *text) {
    for (int by = 0; by < VIEW_BY_COUNT; by++)
        if (strcmp(text, view_by_name((ViewBy)by)) == 0) {
            options->view.by = (ViewBy)by;
            options->has_view = true;
            return true;
        }
    return refuse(flag, text, "layer, op or phase");
}

static bool take_sort(Options *options, const Flag *flag, const char *text) {
    for (int sort = 0; sort < VIEW_SORT_COUNT; sort++)
        if (strcmp(text, view_sort_name((ViewSort)sort)) == 0) {
            options->view.sort = (ViewSort)sort;
            options->has_view = true;
            return true;
        }
    return refuse(flag, text, "order, time, flops, bytes or roof");
}

static bool take_top(Options *options, const Flag *flag, const char *text) {
    options->has_view = true;
    return take_count(options, flag, text);
}

static bool take_layer(Options *options, const Flag *flag, const char *text) {
    (void)flag;
    options->view.layer = text;
    options->has_view = true;
    return true;
}

static bool take_preset(Options *options, const Flag *flag, const char *text) {
    options->has_preset = preset_by_name(text, &options->preset);
    return options->has_preset ||
           refuse(flag, text, "torch, paper, textbook, fvcore, deepspeed, torchinfo or tinytorch");
}

// "500MB", "1.5 GiB", "4096"
static bool take_size(Options *options, const Flag *flag, const char *text) {
    static const struct {
        const char *name;
        double bytes;
    } units[] = {{"", 1},      {"B", 1},      {"kB", 1e3},      {"MB", 1e6},     {"GB", 1e9},
                 {"TB", 1e12}, {"KiB", 1024}, {"MiB", 1048576}, {"GiB", 0x1p30}, {"TiB", 0x1p40}};
    char *unit;
    double value = strtod(text, &unit);
    bool number = unit != text && value > 0.0;
    while (*unit == ' ') unit++;
    for (size_t i = 0; number && i < sizeof(units) / sizeof(units[0]); i++) {
        if (strcmp(unit, units[i].name) != 0) continue;
        value *= units[i].bytes;
        if (!(value >= 1.0 && value <= 0x1p60)) break; // what budget.h takes
        *(int64_t *)(void *)((char *)options + flag->offset) = (int64_t)value;
        return true;
    }
    return refuse(flag, text, "a size as 500MB, 1.5GiB or 4096");
}

#define COUNT(member, least, most) take_count, offsetof(Options, member), least, most
#define TEXT(member) take_text, offsetof(Options, member), 0, 0
#define SWITCH(member) take_switch, offsetof(Options, member), 0, 0
#define OTHER(take) take, 0, 0, 0
const Flag options_flags[] = {
    {"The model and its training", "layers", "N,N,...", "sizes of the layers (784,512,256,10)",
     OTHER(take_layers)},
    {NULL, "activation", "NAME", "between the layers, or none; --help activations (relu)",
     OTHER(take_activation)},
    {NULL, "fuse", NULL, "run bias and activation inside the product", SWITCH(fuse)},
    {NULL, "no-fuse", NULL, "run them as ops of their own (so by default)", SWITCH(no_fuse)},
    {NULL, "batch", "N", "samples in a step (64)", COUNT(batch, 1, 1 << 24)},
    {NULL, "optimizer", "NAME", "sgd, momentum, adam, adamw (adam)", OTHER(take_optimizer)},
    {NULL, "lr", "RATE", "learning rate (sgd 0.1, momentum 0.05, others 0.001)",
     OTHER(take_learning_rate)},
    {NULL, "epochs", "N", "passes over the training data; 0: profile only (5)",
     COUNT(epochs, 0, 1 << 20)},
    {NULL, "steps", "N", "stop training after so many steps; 0: no limit (0)",
     COUNT(steps, 0, INT32_MAX)},
    {NULL, "data", "DIR", "folder of IDX files (MNIST); else digits are drawn", TEXT(data)},
    {NULL, "seed", "N", "of weights, digits and shuffles (1)", COUNT(seed, 0, INT64_MAX)},
    {NULL, "threads", "N", "threads that compute (all cores)", COUNT(threads, 1, 64)},
    {NULL, "device", "NAME", "cpu, cuda; meta: count any model, run nothing (cpu)",
     OTHER(take_device)},

    {"Measuring", "iterations", "N", "samples of each latency; 0: 10 to 200 in a second (0)",
     COUNT(iterations, 0, 1000000)},
    {NULL, "warmup", "N", "steps before the first sample (until steady, 10 to 200)",
     COUNT(warmup, 2, 1000000)},
    {NULL, "percentiles", NULL, "go on until there are enough samples for p99.9",
     SWITCH(percentiles)},
    {NULL, "calibrate", NULL, "measure this machine's ceilings again", SWITCH(calibrate)},
    {NULL, "peaks", "FILE", "ceilings from a file (JSON) instead of measured ones", TEXT(peaks)},
    {NULL, "strict", NULL, "an op without a cost is an error", SWITCH(strict)},

    {"Questions, answered instead of the report (trains only if --epochs says so)", "explain",
     "[LAYER]", "how its numbers were made; LAYER may be 'fc*'", OTHER(take_explain)},
    {NULL, "by", "WHAT", "table by layer, op or phase", OTHER(take_by)},
    {NULL, "sort", "KEY", "of that table: order, time, flops, bytes, roof (order)",
     OTHER(take_sort)},
    {NULL, "top", "N", "its first N rows, the others in one", take_top, offsetof(Options, view.top),
     1, INT32_MAX},
    {NULL, "layer", "PATTERN", "its rows of these layers, as 'fc*'", OTHER(take_layer)},
    {NULL, "memory", NULL, "memory over one step, and what the peak is made of", SWITCH(memory)},
    {NULL, "memory-budget", "SIZE", "the largest batch that fits, as 500MB; tried", take_size,
     offsetof(Options, memory_budget), 0, 0},
    {NULL, "leaks", NULL, "does memory grow from step to step?", SWITCH(leaks)},
    {NULL, "weights", NULL, "how the weights are distributed, layer by layer", SWITCH(weights)},
    {NULL, "flop-convention", "NAME",
     "as counted by torch, paper, textbook, fvcore,\n"
     "                         deepspeed, torchinfo, tinytorch",
     OTHER(take_preset)},

    {"Files (- is standard output)", "json", "FILE", "the profile, with every sample", TEXT(json)},
    {NULL, "trace", "FILE", "training steps, for Perfetto, speedscope, HTA", TEXT(trace)},
    {NULL, "memory-json", "FILE", "memory over one step", TEXT(memory_json)},
    {NULL, "tinytorch", "FILE", "the profile in TinyTorch's keys and definitions", TEXT(tinytorch)},

    {"Other", "devices", NULL, "which devices can be used here, and why not", SWITCH(devices)},
    {NULL, "quiet", NULL, "no report and no progress", SWITCH(quiet)},
    {NULL, "help", NULL, "this text; also --help counts, --help roofline", SWITCH(help)},
    {NULL, "version", NULL, "the version", SWITCH(version)},
};
const int options_flag_count = (int)(sizeof(options_flags) / sizeof(options_flags[0]));
