// options_table.c -- the table of all flags: help, parser of the argument, and named values, in the
// order of the help.
#include "profiler/program/options_table.h"
#include "profiler/machine/machine_known.h"

// ---- named values ------------------------------------------------------------------------------
// Each function returns NULL past the last.
static const char *activation_value(int i) {
    const Op *op = i > 0 ? op_activation_at(i - 1) : NULL;
    return i == 0 ? "none" : op ? op->name : NULL;
}
static const char *optimizer_value(int i) {
    return i < OPTIMIZER_COUNT ? optimizer_flag((OptimizerKind)i) : NULL;
}
static const char *schedule_value(int i) {
    return i < SCHEDULE_COUNT ? schedule_name((ScheduleKind)i) : NULL;
}
static const char *precision_value(int i) {
    return i < PRECISION_COUNT ? precision_brief((Precision)i) : NULL;
}
static const char *by_value(int i) { return i < VIEW_BY_COUNT ? view_by_name((ViewBy)i) : NULL; }
static const char *preset_value(int i) { return i < PRESET_COUNT ? preset_name((Preset)i) : NULL; }
static const char *device_value(int i) {
    static const char *const names[] = {"cpu", "cuda", "meta", NULL};
    return names[i];
}
static const char *shell_value(int i) { return i == 0 ? "bash" : i == 1 ? "zsh" : NULL; }
static const char *peaks_value(int i) {
    const KnownMachine *known = i > 0 ? machine_known_at(i - 1) : NULL;
    return i == 0 ? "none" : known ? known->name : NULL;
}
static const char *undecided_value(int i) { return i == 0 ? "pass" : i == 1 ? "fail" : NULL; }
// Keys for one network, then the additional ones for several networks.
static const char *sort_value(int i) {
    static const char *const names[] = {"order", "time",       "flops",  "bytes",
                                        "roof",  "parameters", "memory", NULL};
    return names[i];
}

// ---- the table ---------------------------------------------------------------------------------
#define AT(taker, member) .take = taker, .offset = offsetof(Options, member)
#define COUNT(member, from, to) AT(take_count, member), .least = from, .most = to
#define TEXT(member) AT(take_text, member)
#define SWITCH(member) AT(take_switch, member)
#define LENGTH(member) AT(take_length, member)
#define OTHER(taker) .take = taker
#define CHOICE(taker, member, values) AT(taker, member), .value = values
#define ONE_OF(taker, values) .take = taker, .value = values
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

enum { OF_MODEL, OF_TRAINING, OF_MEASURING, OF_QUESTIONS, OF_FILES, OF_OTHER }; // topics
const Flag options_flags[] = {
    {OF_MODEL, MLP, true, "layers", "N,N,...", "sizes of the layers (784,512,256,10)",
     OTHER(take_layers)},
    {OF_MODEL, MLP, false, "activation", "NAME",
     "between the layers, or none; --help activations (relu)",
     ONE_OF(take_activation, activation_value)},
    {OF_MODEL, MLP, false, "fuse", NULL, "run bias and activation inside the product",
     SWITCH(fuse)},
    {OF_MODEL, MLP, false, "no-fuse", NULL, "run them as ops of their own (so by default)",
     SWITCH(no_fuse)},
    {OF_MODEL, MODEL, true, "list", NULL, "the networks that have a name here", SWITCH(list)},
    {OF_MODEL, MODEL, true, "image", "SIDE", "of its images: 224, or 224x320 (the network's)",
     OTHER(take_image)},
    {OF_MODEL, MODEL, true, "tokens", "N", "length of its texts (the network's)",
     COUNT(tokens, 1, 1 << 24)},
    {OF_MODEL, MODEL, false, "input", "WHAT",
     "of an ONNX file: NAME=1x3x224x224, NAME=FILE.npy,\n"
     "                         or FILE.npy in the file's order; repeatable. Where a\n"
     "                         shape comes from an input, its file decides",
     OTHER(take_input)},
    {OF_MODEL, MODEL, false, "size", "NAME=N",
     "a size that an ONNX file leaves open, as seq=128,\n"
     "                         in every input that names it; repeatable",
     OTHER(take_open_size)},
    {OF_MODEL, MODEL, false, "partial", NULL, "with --device meta: operators may be missing",
     SWITCH(partial)},
    {OF_MODEL, MODEL, false, "classes", "N", "that it tells apart (the network's)",
     COUNT(classes, 1, 1 << 24)},
    {OF_MODEL, MODEL, false, "freeze", "PATTERN", "these do not train, as 'features.*'; repeatable",
     OTHER(take_freeze), .is = FLAG_TRAINS},
    {OF_MODEL, MODEL, false, "recompute", "PATTERN",
     "keep inputs only, as 'layer?.*'; run again backward;\n"
     "                         auto: those that --memory-budget takes",
     TEXT(recompute), .is = FLAG_TRAINS},
    {OF_MODEL, MODEL, false, "fuse", NULL, "with --inference: norms go into the products before",
     SWITCH(fuse)},
    {OF_MODEL, MODEL, false, "inference", NULL,
     "profile a forward alone, in evaluation mode (the\n"
     "                         default for ONNX files)",
     OTHER(take_kind)},
    {OF_MODEL, MODEL, false, "train", NULL,
     "profile a training step (the default for all but\n"
     "                         ONNX files)",
     OTHER(take_kind)},
    {OF_MODEL, MLP, true, "batch", "N", "samples in a step (64)", COUNT(batch, 1, 1 << 24)},
    {OF_MODEL, MODEL, true, "batch", "N", "samples in a step (1)", COUNT(batch, 1, 1 << 24)},
    {OF_MODEL, BOTH, false, "accumulate", "N", "batches of --batch in a step; gradients add up (1)",
     COUNT(accumulate, 1, PROFILE_MOST_BATCHES), .is = FLAG_TRAINS | FLAG_FROM_LEAST},
    {OF_TRAINING, BOTH, true, "optimizer", "NAME",
     "sgd, momentum, adam, adamw, rmsprop, lion (adam)",
     CHOICE(take_choice, optimizer, optimizer_value), .is = FLAG_TRAINS},
    {OF_TRAINING, BOTH, false, "lr", "RATE",
     "learning rate (sgd 0.1, momentum 0.05, rmsprop 0.01,\n"
     "                         adam and adamw 0.001, lion 0.0001)",
     OTHER(take_learning_rate), .is = FLAG_TRAINS},
    {OF_TRAINING, MLP, false, "schedule", "NAME", "of that rate: constant, step, cosine (constant)",
     ONE_OF(take_schedule, schedule_value), .is = FLAG_RUNS},
    {OF_TRAINING, MODEL, false, "schedule", "NAME",
     "of that rate: constant, step, cosine (cosine;\n"
     "                         where --steps alone is the limit: constant)",
     ONE_OF(take_schedule, schedule_value), .is = FLAG_RUNS},
    {OF_TRAINING, BOTH, false, "lr-warmup", "N",
     "steps, or Nep: epochs, in which it rises first (0)", LENGTH(rate.warmup), .is = FLAG_RUNS},
    {OF_TRAINING, BOTH, false, "lr-period", "N",
     "steps, or Nep, that the cosine takes (all that is\n"
     "                         left), or from one drop to the next (a third of that)",
     LENGTH(rate.period), .is = FLAG_RUNS},
    {OF_TRAINING, BOTH, false, "lr-factor", "F",
     "what of it the cosine leaves (0), or each drop (0.1)", OTHER(take_factor), .is = FLAG_RUNS},
    {OF_TRAINING, MLP, true, "epochs", "N", "passes over the training data; 0: profile only (5)",
     COUNT(epochs, 0, LOADER_MOST_EPOCHS - 1), .is = FLAG_RUNS | FLAG_TRAINS | FLAG_FROM_LEAST,
     .not_with = NOT_SEVERAL | NOT_COMPARED | NOT_TREND},
    {OF_TRAINING, MODEL, false, "epochs", "N", "passes over training data; 0: profile only (0)",
     COUNT(epochs, 0, LOADER_MOST_EPOCHS - 1), .is = FLAG_RUNS | FLAG_TRAINS | FLAG_FROM_LEAST,
     .not_with = NOT_SEVERAL | NOT_COMPARED | NOT_TREND},
    {OF_TRAINING, BOTH, false, "steps", "N", "stop training after so many steps; 0: no limit (0)",
     COUNT(steps, 0, INT32_MAX), .is = FLAG_RUNS | FLAG_TRAINS | FLAG_FROM_LEAST,
     .not_with = NOT_SEVERAL | NOT_COMPARED | NOT_TREND},
    {OF_TRAINING, BOTH, false, "checkpoint", "FILE",
     "keeps a training's whole state, to go on from", TEXT(checkpoint), .is = FLAG_RUNS,
     .not_with = ALONE},
    {OF_TRAINING, BOTH, false, "every", "N", "steps between two of them (an epoch's)",
     COUNT(every, 1, INT32_MAX), .needs = "checkpoint"},
    {OF_TRAINING, BOTH, false, "resume", "FILE", "goes on where a checkpoint stands, bit for bit",
     TEXT(resume), .is = FLAG_RUNS, .not_with = ALONE},
    {OF_TRAINING, MLP, false, "data", "DIR", "folder of IDX files (MNIST); else digits are drawn",
     TEXT(data), .not_with = NOT_SEVERAL | NOT_COMPARED | NOT_TREND},
    {OF_TRAINING, MODEL, false, "data", "PATH",
     "folder of IDX files, or a text; else these are drawn", TEXT(data),
     .not_with = NOT_SEVERAL | NOT_COMPARED | NOT_TREND},
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
     CHOICE(take_name, device, device_value)},
    {OF_MODEL, BOTH, false, "dtype", "NAME", "with --device meta: bytes in bf16, fp16, int8 (fp32)",
     CHOICE(take_choice, precision, precision_value)},

    {OF_MEASURING, BOTH, false, "iterations", "N",
     "samples of each; 0: 10 to 200, of long steps 3 (0)", COUNT(iterations, 0, 1000000),
     .is = FLAG_RUNS | FLAG_FROM_LEAST},
    {OF_MEASURING, BOTH, false, "warmup", "N",
     "steps before the first sample (until steady, 10 to 200)", COUNT(warmup, 2, 1000000),
     .is = FLAG_RUNS},
    {OF_MEASURING, BOTH, false, "percentiles", NULL,
     "go on until there are enough samples for p99.9", SWITCH(percentiles), .is = FLAG_RUNS},
    {OF_MEASURING, BOTH, false, "time-limit", "TIME",
     "samples take so long at most, whatever else is said,\n"
     "                         as 500ms, 30s or 2min (1s)",
     AT(take_time_limit, time_limit), .is = FLAG_RUNS},
    {OF_MEASURING, BOTH, false, "calibrate", NULL, "measure this machine's ceilings again",
     SWITCH(calibrate), .is = FLAG_RUNS},
    {OF_MEASURING, BOTH, false, "runs", "N",
     "measure in N fresh processes, and say how far they\n"
     "                         differ: more than steps of one do (1)",
     COUNT(runs, 1, OPTIONS_MAX_RUNS), .is = FLAG_RUNS | FLAG_FROM_LEAST, .not_with = NOT_SEVERAL},
    {OF_MEASURING, BOTH, false, "peaks", "WHAT",
     "ceilings from a FILE (JSON) instead of measured ones;\n"
     "                         none: times without verdicts; with --device meta\n"
     "                         another machine's, by NAME: --help peaks",
     CHOICE(take_peaks, peaks, peaks_value)},
    {OF_MEASURING, BOTH, false, "strict", NULL, "an op without a cost is an error", SWITCH(strict),
     .not_with = NOT_COMPARED | NOT_SWEPT},

    {OF_QUESTIONS, BOTH, true, "compare", "FILE",
     "what changed since --save FILE, where, and how sure", AT(take_read, compare),
     .not_with = NOT_TREND},
    {OF_QUESTIONS, BOTH, false, "against", "WHAT",
     "the same with other flags ('--batch 128 --fuse') or of\n"
     "                         another network, in turns",
     OTHER(take_against), .not_with = NOT_TREND},
    {OF_QUESTIONS, BOTH, false, "against-program", "PATH",
     "the same of another build of this program, in turns", TEXT(against_program),
     .not_with = NOT_TREND},
    {OF_MEASURING, BOTH, false, "threshold", "LIMITS",
     "status 1 where one does not hold: latency:10ms,\n"
     "                         layer:fc*:+5%; --help thresholds",
     OTHER(take_threshold), .not_with = NOT_SEVERAL | NOT_SWEPT | NOT_TREND},
    {OF_MEASURING, BOTH, false, "undecided", "WHAT",
     "where a limit cannot be told: pass, fail (pass)", ONE_OF(take_undecided, undecided_value)},
    {OF_QUESTIONS, BOTH, false, "sweep", "AXIS=V,V",
     "measure each, as batch=1,8,64; repeated, all of a grid;\n"
     "                         --help sweep",
     OTHER(take_sweep), .not_with = NOT_TREND},
    {OF_QUESTIONS, BOTH, false, "max-latency", "TIME", "of a step, for a sweep's best, as 10ms",
     AT(take_time, max_latency), .needs = "sweep"},
    {OF_QUESTIONS, BOTH, false, "max-memory", "SIZE", "of its peak, as 500MB",
     AT(take_size, max_memory), .needs = "sweep"},
    {OF_QUESTIONS, BOTH, false, "trend", NULL, "how --history FILE went, and where it changed",
     SWITCH(trend), .needs = "history"},
    {OF_QUESTIONS, BOTH, false, "force", NULL, "--compare what was measured on another machine",
     SWITCH(force), .needs = "compare"},
    {OF_QUESTIONS, BOTH, false, "brief", NULL, "the report in about eight lines", SWITCH(brief),
     .not_with = ALONE},
    {OF_QUESTIONS, BOTH, true, "summary", NULL, "its layers as a tree; alone it runs nothing",
     SWITCH(summary), .not_with = ALONE},
    {OF_QUESTIONS, BOTH, false, "depth", "N", "of that tree: so many levels (3)",
     COUNT(depth, 0, 1000), .needs = "summary"},
    {OF_QUESTIONS, BOTH, true, "explain", "[LAYER]",
     "how its numbers were made; LAYER may be 'fc*'", OTHER(take_explain), .not_with = ALONE},
    {OF_QUESTIONS, BOTH, false, "by", "KIND", "table by layer, op or phase",
     ONE_OF(take_by, by_value), .not_with = ALONE},
    {OF_QUESTIONS, BOTH, false, "sort", "KEY",
     "of that table: order, time, flops, bytes, roof (order);\n"
     "                         of several networks also parameters, memory",
     CHOICE(take_text, sort, sort_value), .not_with = ALONE & ~NOT_SEVERAL},
    {OF_QUESTIONS, BOTH, false, "top", "N", "its first N rows, the others in one",
     AT(take_top, view.top), .least = 1, .most = INT32_MAX, .not_with = ALONE},
    {OF_QUESTIONS, BOTH, false, "layer", "PATTERN", "its rows of these layers, as 'fc*'",
     OTHER(take_layer), .not_with = ALONE},
    {OF_QUESTIONS, BOTH, true, "memory", NULL, "memory over one step, and what the peak is made of",
     SWITCH(memory), .not_with = ALONE},
    {OF_QUESTIONS, BOTH, false, "memory-budget", "SIZE",
     "the largest batch that fits, as 500MB; tried", AT(take_size, memory_budget),
     .not_with = ALONE},
    {OF_QUESTIONS, BOTH, false, "try", NULL,
     "what advice brings: predicted, and measured in fresh\n"
     "                         processes in turns",
     SWITCH(try_advice), .is = FLAG_RUNS, .not_with = ALONE},
    {OF_QUESTIONS, BOTH, false, "leaks", NULL, "does memory grow from step to step?", SWITCH(leaks),
     .is = FLAG_RUNS | FLAG_TRAINS, .not_with = ALONE},
    {OF_QUESTIONS, BOTH, false, "weights", NULL,
     "how they are distributed, layer by layer; alone it\n"
     "                         runs nothing",
     SWITCH(weights), .is = FLAG_RUNS, .not_with = ALONE},
    {OF_QUESTIONS, MODEL, false, "generate", "N",
     "tokens behind a prompt of --tokens: times, costs, cache", COUNT(generate, 1, 1 << 24),
     .not_with = ALONE},
    {OF_QUESTIONS, BOTH, false, "shrink", NULL,
     "weights in bf16, int8 or pruned: sizes, what it does", SWITCH(shrink), .is = FLAG_RUNS,
     .not_with = ALONE},
    {OF_QUESTIONS, BOTH, false, "prune", "SHARE", "of the weights, by --shrink (0.5)",
     OTHER(take_prune), .needs = "shrink"},
    {OF_QUESTIONS, BOTH, false, "flop-convention", "NAME",
     "as counted by torch, paper, textbook, fvcore,\n"
     "                         deepspeed, torchinfo, tinytorch",
     ONE_OF(take_preset, preset_value), .not_with = ALONE},

    {OF_FILES, MODEL, false, "output", "WHAT",
     "FILE.npy: what the network, trained if asked, makes of\n"
     "                         its input, in the type that its file declares; its\n"
     "                         further outputs are FILE.1.npy, FILE.2.npy ...;\n"
     "                         FOLDER/: all files below, with an index",
     OTHER(take_output), .is = FLAG_RUNS, .not_with = ALONE},
    {OF_FILES, MLP, false, "output", "FOLDER", "all files below, with an index", OTHER(take_output),
     .not_with = ALONE},
    {OF_FILES, BOTH, true, "html", "FILE", "a page with pictures: layers, roofline, memory, time",
     TEXT(html), .not_with = NOT_SEVERAL | NOT_TREND},
    {OF_FILES, BOTH, false, "svg", "KIND=FILE",
     "one drawing: roofline (or no KIND), memory, step,\n"
     "                         time, loss, sweep",
     ONE_OF(take_svg, page_drawing_name), .is = FLAG_RUNS, .not_with = ALONE},
    {OF_FILES, BOTH, false, "csv", "FILE", "a row for each phase of each layer", TEXT(csv),
     .not_with = ALONE},
    {OF_FILES, BOTH, true, "json", "FILE", "the profile, with every sample", TEXT(json),
     .not_with = NOT_TREND},
    {OF_FILES, BOTH, false, "save", "FILE",
     "the same of five processes, for --compare; or a sweep's\n"
     "                         points, from which it goes on",
     TEXT(save), .not_with = NOT_SEVERAL | NOT_COMPARED | NOT_TREND},
    {OF_FILES, BOTH, false, "history", "FILE.jsonl",
     "add a line to it, of five processes; see --trend", TEXT(history),
     .not_with = ALONE & ~NOT_TREND},
    {OF_FILES, BOTH, false, "gbench", "FILE",
     "times of five processes as Google Benchmark has them,\n"
     "                         for its compare.py",
     TEXT(gbench), .is = FLAG_RUNS, .not_with = ALONE},
    {OF_FILES, BOTH, false, "openmetrics", "FILE", "gauges for Prometheus", TEXT(openmetrics),
     .not_with = ALONE},
    {OF_FILES, BOTH, false, "junit", "FILE", "which limits hold, for a CI", TEXT(junit),
     .not_with = NOT_SWEPT | NOT_TREND},
    {OF_FILES, BOTH, true, "trace", "FILE", "training steps, for Perfetto, speedscope, HTA",
     TEXT(trace), .is = FLAG_RUNS | FLAG_TRAINS, .not_with = ALONE},
    {OF_FILES, BOTH, false, "memory-json", "FILE", "memory over one step", TEXT(memory_json),
     .not_with = ALONE},
    {OF_FILES, BOTH, false, "tinytorch", "FILE", "the profile in TinyTorch's keys and definitions",
     TEXT(tinytorch), .not_with = ALONE},

    {OF_OTHER, BOTH, false, "config", "FILE",
     "options from a file, as 'batch = 256', one a line; what\n"
     "                         is typed counts",
     OTHER(take_config)},
    {OF_OTHER, BOTH, false, "devices", NULL, "which devices can be used here, and why not",
     SWITCH(devices)},
    {OF_OTHER, BOTH, false, "quiet", NULL, "no report and no progress", SWITCH(quiet),
     .letter = 'q'},
    {OF_OTHER, BOTH, false, "help", "[TOPIC]", "the first page, or one of its topics",
     OTHER(take_help), .letter = 'h'},
    {OF_OTHER, BOTH, false, "completion", "SHELL", "what bash or zsh need to complete all this",
     CHOICE(take_name, completion, shell_value)},
    {OF_OTHER, BOTH, false, "man", NULL, "the manual page, for man -l", SWITCH(man)},
    {OF_OTHER, BOTH, false, "version", NULL, "the version", SWITCH(version), .letter = 'V'},
};
const int options_flag_count = (int)(sizeof(options_flags) / sizeof(options_flags[0]));
