// options_table.c -- every flag in one table: its help, and how it takes its argument. The order is
// that of the help.
#include "profiler/program/options_table.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/profile.h"

static bool refuse(const Options *options, const Flag *flag, const char *text,
                   const char *expected) {
    return options_refuse(options, "--%s %s: expected %s", flag->name, text, expected);
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
    return refuse(options, flag, text, expected);
}

static bool take_layers(Options *options, const Flag *flag, const char *text) {
    int n = 0;
    const char *at = text;
    for (;;) {
        char *end;
        int64_t size;
        if (n == OPTIONS_MAX_LAYERS) return refuse(options, flag, text, "at most 64 sizes");
        if (!whole_number(at, &end, &size) || size < 1 || size > INT32_MAX)
            return refuse(options, flag, text,
                          "sizes of at least 1 with commas between, as 784,512,10");
        options->layers[n++] = size;
        if (!*end) break;
        if (*end != ',')
            return refuse(options, flag, text, "sizes with commas between, as 784,512,10");
        at = end + 1;
    }
    options->n_layers = n;
    return n >= 2 || refuse(options, flag, text, "an input and an output size, as 784,10");
}

static bool take_activation(Options *options, const Flag *flag, const char *text) {
    options->activation = op_activation_by_name(text);
    options->has_activation = true;
    if (options->activation || strcmp(text, "none") == 0) return true;
    char names[400] = "none";
    const Op *op;
    for (int i = 0; (op = op_activation_at(i)); i++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof(names) - used, ", %s", op->name);
    }
    return refuse(options, flag, text, names);
}

static bool take_optimizer(Options *options, const Flag *flag, const char *text) {
    for (int k = 0; k < OPTIMIZER_COUNT; k++)
        if (strcmp(text, optimizer_flag((OptimizerKind)k)) == 0) {
            options->optimizer = (OptimizerKind)k;
            options->has_optimizer = true;
            return true;
        }
    return refuse(options, flag, text, "sgd, momentum, adam, adamw, rmsprop or lion");
}

static bool take_learning_rate(Options *options, const Flag *flag, const char *text) {
    char *end;
    double value = strtod(text, &end);
    bool usable = (float)value > 0.0f && isfinite((float)value); // as the steps will use it
    if (end == text || *end || !usable)
        return refuse(options, flag, text, "a number above 0 that a float can hold, as 0.001");
    options->rate.base = value;
    return true;
}

static bool take_schedule(Options *options, const Flag *flag, const char *text) {
    for (int k = 0; k < SCHEDULE_COUNT; k++)
        if (strcmp(text, schedule_name((ScheduleKind)k)) == 0) {
            options->rate.kind = (ScheduleKind)k;
            options->rate.has_kind = true;
            return true;
        }
    return refuse(options, flag, text, "constant, step or cosine");
}

// "200" steps, or "2ep"
static bool take_length(Options *options, const Flag *flag, const char *text) {
    Length *length = (Length *)(void *)((char *)options + flag->offset);
    char *end;
    bool good = whole_number(text, &end, &length->count);
    length->epochs = good && strcmp(end, "ep") == 0;
    good = good && length->count >= 1 && length->count <= INT32_MAX;
    return (good && (!*end || length->epochs)) ||
           refuse(options, flag, text, "steps, as 200, or epochs, as 2ep");
}

static bool take_factor(Options *options, const Flag *flag, const char *text) {
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !(value >= 0.0 && value <= 1.0))
        return refuse(options, flag, text, "a number from 0 to 1, as 0.1");
    options->rate.factor = value;
    return true;
}

static bool take_prune(Options *options, const Flag *flag, const char *text) {
    char *end;
    options->prune = strtod(text, &end);
    bool share = end != text && !*end && options->prune >= 0.0 && options->prune <= 1.0;
    return share || refuse(options, flag, text, "a share from 0 to 1, as 0.5");
}

static bool take_device(Options *options, const Flag *flag, const char *text) {
    static const char *const names[] = {"cpu", "cuda", "meta"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(text, names[i]) == 0) {
            options->device = names[i];
            return true;
        }
    return refuse(options, flag, text, "cpu, cuda or meta");
}

static bool take_temperature(Options *options, const Flag *flag, const char *text) {
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !(value >= 0.0) || !isfinite((float)value))
        return refuse(options, flag, text, "a number from 0 on, as 0.8; 0: always the likeliest");
    options->temperature = value;
    return true;
}

static bool take_prompt(Options *options, const Flag *flag, const char *text) {
    options->prompt = text;
    return text[0] || refuse(options, flag, text, "what the text begins with");
}

static bool take_dtype(Options *options, const Flag *flag, const char *text) {
    options->has_dtype = true;
    return precision_by_brief(text, &options->precision) ||
           refuse(options, flag, text, "fp32, bf16, fp16 or int8");
}

// "224", or "224x320": height and width
static bool take_image(Options *options, const Flag *flag, const char *text) {
    char *end;
    int64_t *side = options->image;
    bool good = whole_number(text, &end, &side[0]);
    side[1] = side[0];
    if (good && *end == 'x') good = whole_number(end + 1, &end, &side[1]);
    for (int i = 0; i < 2; i++) good = good && side[i] >= 1 && side[i] <= 1 << 16;
    return (good && !*end) || refuse(options, flag, text, "a side, as 224, or HEIGHTxWIDTH");
}

static bool take_input(Options *options, const Flag *flag, const char *text) {
    if (!text[0]) return refuse(options, flag, text, "NAME=1x3x224x224, NAME=FILE.npy or FILE.npy");
    if (options->n_inputs == OPTIONS_MAX_INPUTS)
        return refuse(options, flag, text, "at most 16 inputs");
    options->inputs[options->n_inputs++] = text;
    return true;
}

static bool take_freeze(Options *options, const Flag *flag, const char *text) {
    if (!text[0]) return refuse(options, flag, text, "a layer or pattern, as 'features.*'");
    if (options->n_freeze == OPTIONS_MAX_FREEZE)
        return refuse(options, flag, text, "at most 16 patterns");
    options->freeze[options->n_freeze++] = text;
    return true;
}

static bool take_text(Options *options, const Flag *flag, const char *text) {
    *(const char **)(void *)((char *)options + flag->offset) = text;
    return true;
}
// It was taken before all others (options_file.h).
static bool take_config(Options *options, const Flag *flag, const char *text) {
    return strcmp(options->config, text) == 0 ||
           refuse(options, flag, text, "one such file, and no second");
}
// "none": then there are no verdicts
static bool take_peaks(Options *options, const Flag *flag, const char *text) {
    (void)flag;
    options->no_peaks = strcmp(text, "none") == 0;
    options->peaks = options->no_peaks ? NULL : text;
    return true;
}
static bool take_switch(Options *options, const Flag *flag, const char *text) {
    (void)text;
    *(bool *)(void *)((char *)options + flag->offset) = true;
    return true;
}

static bool take_help(Options *options, const Flag *flag, const char *text) {
    (void)flag;
    options->help = true;
    options->topic = text;
    return true;
}

static bool take_explain(Options *options, const Flag *flag, const char *text) {
    if (text && !text[0]) return refuse(options, flag, text, "a LAYER or pattern, as fc1 or 'fc*'");
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
    return refuse(options, flag, text, "layer, op or phase");
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
           refuse(options, flag, text,
                  "torch, paper, textbook, fvcore, deepspeed, torchinfo or tinytorch");
}

typedef struct UnitOfText {
    const char *name; // NULL behind the last
    double value;
} UnitOfText;

// "500MB": a number above 0 and a unit; 0 where it is none.
static double read_amount(const char *text, const UnitOfText *units) {
    char *unit;
    double value = strtod(text, &unit);
    if (unit == text || !(value > 0.0)) return 0.0;
    while (*unit == ' ') unit++;
    while (units->name && strcmp(unit, units->name) != 0) units++;
    return units->name ? value * units->value : 0.0;
}

static bool take_size(Options *options, const Flag *flag, const char *text) {
    static const UnitOfText units[] = {{"", 1},         {"B", 1},         {"kB", 1e3},
                                       {"MB", 1e6},     {"GB", 1e9},      {"TB", 1e12},
                                       {"KiB", 1024},   {"MiB", 1048576}, {"GiB", 0x1p30},
                                       {"TiB", 0x1p40}, {NULL, 0}};
    double bytes = read_amount(text, units);
    if (!(bytes >= 1.0 && bytes <= 0x1p60)) // what budget.h takes
        return refuse(options, flag, text, "a size as 500MB, 1.5GiB or 4096");
    *(int64_t *)(void *)((char *)options + flag->offset) = (int64_t)bytes;
    return true;
}

static bool take_time_limit(Options *options, const Flag *flag, const char *text) {
    static const UnitOfText units[] = {{"", 1},     {"ms", 1e-3}, {"s", 1},
                                       {"min", 60}, {"h", 3600},  {NULL, 0}};
    options->time_limit = read_amount(text, units);
    return (options->time_limit >= 1e-3 && options->time_limit <= 1e6) ||
           refuse(options, flag, text, "a time as 500ms, 30s or 2min");
}

// ---- the table ---------------------------------------------------------------------------------
#define COUNT(member, least, most) take_count, offsetof(Options, member), least, most
#define TEXT(member) take_text, offsetof(Options, member), 0, 0
#define SWITCH(member) take_switch, offsetof(Options, member), 0, 0
#define LENGTH(member) take_length, offsetof(Options, member), 0, 0
#define OTHER(take) take, 0, 0, 0
enum { MLP = PROGRAM_MLP, MODEL = PROGRAM_MODEL, BOTH = MLP | MODEL };
const FlagTopic flag_topics[] = {
    {"model", "The model"},
    {"training", "Its training"},
    {"measuring", "Measuring"},
    {"questions", "Questions, answered instead of the report (trains only if --epochs says so)"},
    {"files", "Files (- is standard output)"},
    {"other", "Other"},
};
const int flag_topic_count = (int)(sizeof(flag_topics) / sizeof(flag_topics[0]));

enum { OF_MODEL, OF_TRAINING, OF_MEASURING, OF_QUESTIONS, OF_FILES, OF_OTHER }; // their places
const Flag options_flags[] = {
    {OF_MODEL, MLP, true, "layers", "N,N,...", "sizes of the layers (784,512,256,10)",
     OTHER(take_layers)},
    {OF_MODEL, MLP, false, "activation", "NAME",
     "between the layers, or none; --help activations (relu)", OTHER(take_activation)},
    {OF_MODEL, MLP, false, "fuse", NULL, "run bias and activation inside the product",
     SWITCH(fuse)},
    {OF_MODEL, MLP, false, "no-fuse", NULL, "run them as ops of their own (so by default)",
     SWITCH(no_fuse)},
    {OF_MODEL, MODEL, true, "list", NULL, "the networks that have a name here", SWITCH(list)},
    {OF_MODEL, MODEL, true, "image", "SIDE", "of its images: 224, or 224x320 (the network's)",
     OTHER(take_image)},
    {OF_MODEL, MODEL, true, "tokens", "N", "of its texts (the network's)",
     COUNT(tokens, 1, 1 << 24)},
    {OF_MODEL, MODEL, false, "input", "WHAT",
     "of an ONNX file: NAME=1x3x224x224, NAME=FILE.npy,\n"
     "                         or FILE.npy in the file's order; repeatable",
     OTHER(take_input)},
    {OF_MODEL, MODEL, false, "partial", NULL, "with --device meta: operators may be missing",
     SWITCH(partial)},
    {OF_MODEL, MODEL, false, "classes", "N", "that it tells apart (the network's)",
     COUNT(classes, 1, 1 << 24)},
    {OF_MODEL, MODEL, true, "freeze", "PATTERN", "these do not train, as 'features.*'; repeatable",
     OTHER(take_freeze)},
    {OF_MODEL, MODEL, false, "recompute", "PATTERN",
     "keep inputs only, as 'layer?.*'; run again backward;\n"
     "                         auto: those that --memory-budget takes",
     TEXT(recompute)},
    {OF_MODEL, MODEL, false, "fuse", NULL, "with --inference: norms go into the products before",
     SWITCH(fuse)},
    {OF_MODEL, MODEL, false, "inference", NULL, "profile a forward alone, in evaluation mode",
     SWITCH(inference)},
    {OF_MODEL, MLP, true, "batch", "N", "samples in a step (64)", COUNT(batch, 1, 1 << 24)},
    {OF_MODEL, MODEL, true, "batch", "N", "samples in a step (1)", COUNT(batch, 1, 1 << 24)},
    {OF_MODEL, BOTH, false, "accumulate", "N", "batches of --batch in a step; gradients add up (1)",
     COUNT(accumulate, 1, PROFILE_MOST_BATCHES)},
    {OF_TRAINING, BOTH, true, "optimizer", "NAME",
     "sgd, momentum, adam, adamw, rmsprop, lion (adam)", OTHER(take_optimizer)},
    {OF_TRAINING, BOTH, false, "lr", "RATE",
     "learning rate (sgd 0.1, momentum 0.05, rmsprop 0.01,\n"
     "                         adam and adamw 0.001, lion 0.0001)",
     OTHER(take_learning_rate)},
    {OF_TRAINING, MLP, false, "schedule", "NAME", "of that rate: constant, step, cosine (constant)",
     OTHER(take_schedule)},
    {OF_TRAINING, MODEL, false, "schedule", "NAME",
     "of that rate: constant, step, cosine (cosine;\n"
     "                         where --steps alone is the limit: constant)",
     OTHER(take_schedule)},
    {OF_TRAINING, BOTH, false, "lr-warmup", "N",
     "steps, or Nep: epochs, in which it rises first (0)", LENGTH(rate.warmup)},
    {OF_TRAINING, BOTH, false, "lr-period", "N",
     "steps, or Nep, that the cosine takes (all that is\n"
     "                         left), or from one drop to the next (a third of that)",
     LENGTH(rate.period)},
    {OF_TRAINING, BOTH, false, "lr-factor", "F",
     "what of it the cosine leaves (0), or each drop (0.1)", OTHER(take_factor)},
    {OF_TRAINING, MLP, true, "epochs", "N", "passes over the training data; 0: profile only (5)",
     COUNT(epochs, 0, LOADER_MOST_EPOCHS - 1)},
    {OF_TRAINING, MODEL, false, "epochs", "N", "passes over training data; 0: profile only (0)",
     COUNT(epochs, 0, LOADER_MOST_EPOCHS - 1)},
    {OF_TRAINING, BOTH, false, "steps", "N", "stop training after so many steps; 0: no limit (0)",
     COUNT(steps, 0, INT32_MAX)},
    {OF_TRAINING, BOTH, false, "checkpoint", "FILE",
     "keeps a training's whole state, to go on from", TEXT(checkpoint)},
    {OF_TRAINING, BOTH, false, "every", "N", "steps between two of them (an epoch's)",
     COUNT(every, 1, INT32_MAX)},
    {OF_TRAINING, BOTH, false, "resume", "FILE", "goes on where a checkpoint stands, bit for bit",
     TEXT(resume)},
    {OF_TRAINING, MLP, false, "data", "DIR", "folder of IDX files (MNIST); else digits are drawn",
     TEXT(data)},
    {OF_TRAINING, MODEL, false, "data", "PATH",
     "folder of IDX files, or a text; else these are drawn", TEXT(data)},
    {OF_TRAINING, MODEL, false, "sample", "N", "characters to write after training on a text (200)",
     COUNT(sample, 0, 1 << 20)},
    {OF_TRAINING, MODEL, false, "prompt", "TEXT", "what the sample goes on from (a line's end)",
     OTHER(take_prompt)},
    {OF_TRAINING, MODEL, false, "temperature", "T",
     "of --sample (0.8) and --generate (0: the likeliest)", OTHER(take_temperature)},
    {OF_TRAINING, BOTH, false, "seed", "N", "of weights, drawn data and shuffles (1)",
     COUNT(seed, 0, INT64_MAX)},
    {OF_MODEL, BOTH, false, "threads", "N", "threads that compute (all cores)",
     COUNT(threads, 1, 64)},
    {OF_MODEL, BOTH, true, "device", "NAME", "cpu, cuda; meta: count any model, run nothing (cpu)",
     OTHER(take_device)},
    {OF_MODEL, BOTH, false, "dtype", "NAME", "with --device meta: bytes in bf16, fp16, int8 (fp32)",
     OTHER(take_dtype)},

    {OF_MEASURING, BOTH, false, "iterations", "N",
     "samples of each latency; 0: 10 to 200 in a second (0)", COUNT(iterations, 0, 1000000)},
    {OF_MEASURING, BOTH, false, "warmup", "N",
     "steps before the first sample (until steady, 10 to 200)", COUNT(warmup, 2, 1000000)},
    {OF_MEASURING, BOTH, false, "percentiles", NULL,
     "go on until there are enough samples for p99.9", SWITCH(percentiles)},
    {OF_MEASURING, BOTH, false, "time-limit", "TIME",
     "samples take so long at most, whatever else is said,\n"
     "                         as 500ms, 30s or 2min (1s)",
     OTHER(take_time_limit)},
    {OF_MEASURING, BOTH, false, "calibrate", NULL, "measure this machine's ceilings again",
     SWITCH(calibrate)},
    {OF_MEASURING, BOTH, false, "runs", "N",
     "measure in N fresh processes, and say how far they\n"
     "                         differ: more than steps of one do (1)",
     COUNT(runs, 1, OPTIONS_MAX_RUNS)},
    {OF_MEASURING, BOTH, false, "peaks", "WHAT",
     "ceilings from a FILE (JSON) instead of measured ones;\n"
     "                         none: times without verdicts; with --device meta\n"
     "                         another machine's, by NAME: --help peaks",
     OTHER(take_peaks)},
    {OF_MEASURING, BOTH, false, "strict", NULL, "an op without a cost is an error", SWITCH(strict)},

    {OF_QUESTIONS, BOTH, true, "summary", NULL, "its layers as a tree; alone it runs nothing",
     SWITCH(summary)},
    {OF_QUESTIONS, BOTH, false, "depth", "N", "of that tree: so many levels (3)",
     COUNT(depth, 0, 1000)},
    {OF_QUESTIONS, BOTH, true, "explain", "[LAYER]",
     "how its numbers were made; LAYER may be 'fc*'", OTHER(take_explain)},
    {OF_QUESTIONS, BOTH, true, "by", "WHAT", "table by layer, op or phase", OTHER(take_by)},
    {OF_QUESTIONS, BOTH, false, "sort", "KEY",
     "of that table: order, time, flops, bytes, roof (order);\n"
     "                         of several networks also parameters, memory",
     TEXT(sort)},
    {OF_QUESTIONS, BOTH, false, "top", "N", "its first N rows, the others in one", take_top,
     offsetof(Options, view.top), 1, INT32_MAX},
    {OF_QUESTIONS, BOTH, false, "layer", "PATTERN", "its rows of these layers, as 'fc*'",
     OTHER(take_layer)},
    {OF_QUESTIONS, BOTH, true, "memory", NULL, "memory over one step, and what the peak is made of",
     SWITCH(memory)},
    {OF_QUESTIONS, BOTH, false, "memory-budget", "SIZE",
     "the largest batch that fits, as 500MB; tried", take_size, offsetof(Options, memory_budget), 0,
     0},
    {OF_QUESTIONS, BOTH, false, "try", NULL,
     "what advice brings: predicted, and measured in fresh\n"
     "                         processes in turns",
     SWITCH(try_advice)},
    {OF_QUESTIONS, BOTH, false, "leaks", NULL, "does memory grow from step to step?",
     SWITCH(leaks)},
    {OF_QUESTIONS, BOTH, false, "weights", NULL,
     "how they are distributed, layer by layer; alone it\n"
     "                         runs nothing",
     SWITCH(weights)},
    {OF_QUESTIONS, MODEL, false, "generate", "N",
     "tokens behind a prompt of --tokens: times, costs, cache", COUNT(generate, 1, 1 << 24)},
    {OF_QUESTIONS, BOTH, false, "shrink", NULL,
     "weights in bf16, int8 or pruned: sizes, what it does", SWITCH(shrink)},
    {OF_QUESTIONS, BOTH, false, "prune", "SHARE", "of the weights, by --shrink (0.5)",
     OTHER(take_prune)},
    {OF_QUESTIONS, BOTH, false, "flop-convention", "NAME",
     "as counted by torch, paper, textbook, fvcore,\n"
     "                         deepspeed, torchinfo, tinytorch",
     OTHER(take_preset)},

    {OF_FILES, MODEL, false, "output", "FILE.npy",
     "what the network, trained if asked, makes of its input", TEXT(output)},
    {OF_FILES, BOTH, true, "json", "FILE", "the profile, with every sample", TEXT(json)},
    {OF_FILES, BOTH, true, "trace", "FILE", "training steps, for Perfetto, speedscope, HTA",
     TEXT(trace)},
    {OF_FILES, BOTH, false, "memory-json", "FILE", "memory over one step", TEXT(memory_json)},
    {OF_FILES, BOTH, false, "tinytorch", "FILE", "the profile in TinyTorch's keys and definitions",
     TEXT(tinytorch)},

    {OF_OTHER, BOTH, false, "config", "FILE",
     "options from a file, as 'batch = 256', one a line; what\n"
     "                         is typed counts",
     OTHER(take_config)},
    {OF_OTHER, BOTH, false, "devices", NULL, "which devices can be used here, and why not",
     SWITCH(devices)},
    {OF_OTHER, BOTH, false, "quiet", NULL, "no report and no progress", SWITCH(quiet)},
    {OF_OTHER, BOTH, false, "help", "[TOPIC]", "the first page, or one of its topics",
     OTHER(take_help)},
    {OF_OTHER, BOTH, false, "version", NULL, "the version", SWITCH(version)},
};
const int options_flag_count = (int)(sizeof(options_flags) / sizeof(options_flags[0]));
