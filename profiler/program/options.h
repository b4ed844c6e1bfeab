// options.h -- the command lines of profile_mlp and profile_model: one table yields parsing and
// help.
#ifndef PROFILER_PROGRAM_OPTIONS_H
#define PROFILER_PROGRAM_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "layers/train/optimizer.h"
#include "layers/train/schedule.h"
#include "profiler/compare/sweep.h"
#include "profiler/compare/threshold.h"
#include "profiler/look/page.h"
#include "profiler/report/comparison.h"
#include "profiler/report/preset.h"
#include "profiler/report/report_views.h"

enum {
    OPTIONS_MAX_LAYERS = 64,
    OPTIONS_MAX_FREEZE = 16,
    OPTIONS_MAX_INPUTS = 1024,
    OPTIONS_MAX_SIZES = 256,
    OPTIONS_MAX_MODELS = 32,
    OPTIONS_MAX_RUNS = 1000,
    OPTIONS_MOST_FLAGS = 96,
    OPTIONS_COMPARED_RUNS = 5 // where none are said
};

// What the command lines of the programs differ in, beside the flags that only one takes.
enum { PROGRAM_MLP = 1, PROGRAM_MODEL = 2 };
typedef struct ProgramLine {
    const char *name;              // "profile_mlp"
    unsigned program;              // PROGRAM_MLP or PROGRAM_MODEL
    const char *argument;          // what it takes beside flags: "NAME|FILE ..."; NULL: nothing
    const char *(*network)(int i); // names that it may be; NULL behind the last. NULL: it has none
    const char *examples[3];       // what follows the name
    const char *purpose;           // in a few words
    const char *about;             // what it does: a line or two
    int64_t batch, epochs;         // where nothing is said; epochs where no question is asked
    ScheduleKind schedule;         // where epochs limit a training
} ProgramLine;

// A part of a training, as typed: steps, or epochs, whose steps are known when there is data.
typedef struct Length {
    int64_t count; // 0: not said
    bool epochs;
} Length;

// How the learning rate goes with the steps.
typedef struct RateOptions {
    double base; // NaN: the optimizer's default
    ScheduleKind kind;
    bool has_kind; // was said
    Length warmup, period;
    double factor; // NaN: the kind's
} RateOptions;

typedef struct Options {
    const ProgramLine *line;
    bool given[OPTIONS_MOST_FLAGS];         // of options_flags, in a file or typed
    const char *model;                      // its argument, the first of them; NULL: none given
    const char *models[OPTIONS_MAX_MODELS]; // all of them: several are compared
    int n_models;

    // Of profile_mlp:
    int64_t layers[OPTIONS_MAX_LAYERS];
    int n_layers;
    const Op *activation; // NULL: none
    bool no_fuse;         // as by default
    // Of profile_model; 0: the network's own.
    int64_t image[2]; // height, width
    int64_t tokens, classes;
    int64_t sample;                         // characters, written by what was trained; -1: not said
    const char *prompt;                     // that a sample goes on from; NULL: a line's end
    double temperature;                     // of what is written; NaN: not said
    int64_t generate;                       // tokens behind a prompt; 0: not asked
    const char *freeze[OPTIONS_MAX_FREEZE]; // patterns of paths
    int n_freeze;
    const char *recompute;                  // a pattern of paths, "auto", or NULL
    const char *inputs[OPTIONS_MAX_INPUTS]; // of an ONNX file: "NAME=1x3", "NAME=F.npy", "F.npy"
    int n_inputs;
    const char *sizes[OPTIONS_MAX_SIZES]; // for what the file leaves open: "seq=128"
    int n_sizes;
    const char *output; // a file for the first result; NULL: none
    bool inference;     // rather than a training step, as it was said, or as the network opens
    bool train;         // --train was said, and --inference not behind it
    bool kind_said;     // one of the two was said
    bool list, partial;

    bool fuse; // of profile_mlp activations inside the linear layers, of profile_model batch norms

    int64_t batch, accumulate; // samples at a time; so many times in a step
    int64_t epochs, steps, iterations, warmup, threads, seed;
    bool has_epochs; // were said
    OptimizerKind optimizer;
    RateOptions rate;
    const char *device;              // its name: one of those in --help
    Precision precision;             // in which reals are counted where nothing runs
    const char *data;                // NULL: generated digits, or sentences
    const char *checkpoint, *resume; // files; NULL: none
    int64_t every;                   // steps from one checkpoint to the next; 0: an epoch's
    const char *peaks;               // a machine's name, or a file; NULL: this machine's own
    bool no_peaks;                   // --peaks none: no ceilings, and no verdicts
    int64_t runs;                    // processes that measure, this one among them
    const char *save;                // a file, for --compare; NULL: none. Then `json` is the same
    const char *compare, *against;   // a saved profile; another command. NULL: not asked
    const char *against_program;     // another build of this program
    bool force;                      // compares what was measured elsewhere
    ThresholdList thresholds;        // as typed, not judged
    bool undecided_fails;            // a limit that cannot be told is status 1
    const char *junit;               // a file that says which hold; NULL: none
    const char *sweeps[SWEEP_AXES];  // "batch=1,8,64", as typed
    int n_sweeps;
    double max_latency; // of a sweep's best; seconds, bytes; 0: no limit
    int64_t max_memory;
    bool measure_only; // one of those: its profile goes to standard output
    bool trains_too;   // it
    bool calibrate;    // measure them again
    bool percentiles, strict;
    double time_limit; // seconds; 0: not said

    const char *config;               // a file of options; NULL: none
    char *config_text, *config_lines; // owned: what it holds; and its options, one a line
    bool file_is_unusable;            // it cannot be read: exit status 3
    char place[240];                  // in that file, of what is refused: "FILE:3: "

    // Questions: their answers are printed instead of the report.
    bool explain;
    const char *explain_layer; // NULL: all
    ViewOptions view;
    const char *sort; // its rows', or a comparison's; NULL: not said
    ComparisonSort comparison_sort;
    bool has_view, memory, leaks, weights, summary, shrink, try_advice;
    double prune;          // the share of weights that --shrink prunes; NaN: not said
    int64_t depth;         // of the summary; -1: not said
    int64_t memory_budget; // bytes; 0: not asked
    Preset preset;
    bool has_preset;

    const char *json, *trace, *tinytorch, *memory_json; // files; NULL: none; "-": standard output
    const char *html, *csv, *gbench, *openmetrics;      // the same
    const char *svg[PAGE_DRAWINGS];                     // of each drawing
    const char *index;                                  // of `folder`
    const char *history;                                // a file that grows; NULL: none
    bool trend;                                         // asks for what it says, and nothing runs
    const char *folder; // for all of these that there can be; NULL: none
    char *folder_paths; // owned: their names in it
    bool quiet, help, version, devices, man;
    bool told;              // one of these: nothing is profiled
    const char *completion; // of a shell's name; NULL: not asked
    const char *topic;      // of the help; NULL: its first page
} Options;

// The value of an --input: what stands behind its NAME=, or the whole text where it has no name or
// is as it stands the name of a file.
const char *options_input_value(const char *text);
// Does a flag read or write this file? (--peaks, --json ...)
bool options_has_file(const Options *options, const char *path);
bool options_is_onnx(const char *model); // by its name: "NAME.onnx", in any case of letters

// False after one line on standard error: what, where, and what to do (exit status 2).
bool options_parse(int argc, char **argv, const ProgramLine *line, Options *options);
void options_free(Options *options); // what it owns, also of one that was refused
// What a process that only measures leaves out of the same command line.
void options_measure_only(Options *options, bool trains);
// On standard output: the first page of the help, or what the topic explains (false after one line
// on standard error); what a shell completes by; the manual page.
bool options_print_help(const Options *options);
void options_print_completion(const Options *options);
void options_print_man(const Options *options);
// Are layers to be chosen that fit into the memory budget? Then that is no question.
bool options_choose_recompute(const Options *options);
// "compare", "against" or "against-program", where one of them was asked; else NULL.
const char *options_beside(const Options *options);
// Whether a question was asked, whose answer takes the report's place.
bool options_ask(const Options *options);
// Are weights, as they begin, all that is asked for? Then nothing need run.
bool options_need_weights_only(const Options *options);
// Files that it writes, by the flags that name them; *path NULL: this one not. NULL behind the
// last.
const char *options_output(const Options *options, int i, const char **path);
// Whether one of these drawings is to be a file of its own: 1 << PAGE_ROOFLINE | ...
bool options_draw(const Options *options, unsigned drawings);
// What output i is called in --output's folder, where it goes there; else NULL.
const char *options_in_folder(const Options *options, int i);
bool options_is_in_folder(const Options *options, const char *path);
// Whether a file takes all of standard output.
bool options_take_output(const Options *options);

#endif
