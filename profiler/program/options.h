// options.h -- the command lines of profile_mlp and profile_model. One table of flags drives both
// parsing and help.
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
    OPTIONS_MOST_FLAGS = 104,
    OPTIONS_COMPARED_RUNS = 5 // default for comparisons
};

// The differences between the programs' command lines, apart from flags that only one has.
enum { PROGRAM_MLP = 1, PROGRAM_MODEL = 2 };
typedef struct ProgramLine {
    const char *name;              // "profile_mlp"
    unsigned program;              // PROGRAM_MLP or PROGRAM_MODEL
    const char *argument;          // positional argument: "NAME|FILE ..."; NULL: none
    const char *(*network)(int i); // its i-th known name; NULL past the last. NULL: no names
    const char *examples[3];       // arguments, without the program's name
    const char *purpose;           // a few words
    const char *about;             // description, one or two lines
    int64_t batch, epochs;         // defaults; the one of epochs if no question is asked
    ScheduleKind schedule;         // default if the training's epochs are limited
} ProgramLine;

// A part of a training, as typed: steps, or epochs, converted to steps once the data is loaded.
typedef struct Length {
    int64_t count; // 0: not given
    bool epochs;
} Length;

// The learning rate over the steps.
typedef struct RateOptions {
    double base; // NaN: the optimizer's default
    ScheduleKind kind;
    bool has_kind; // --schedule was given
    Length warmup, period;
    double factor; // NaN: the kind's default
} RateOptions;

typedef struct Options {
    const ProgramLine *line;
    bool given[OPTIONS_MOST_FLAGS];         // by index in options_flags; typed or in a config file
    const char *model;                      // the first argument; NULL: none given
    const char *models[OPTIONS_MAX_MODELS]; // all arguments; several are compared
    int n_models;

    // profile_mlp only:
    int64_t layers[OPTIONS_MAX_LAYERS];
    int n_layers;
    const Op *activation; // NULL: none
    bool no_fuse;         // the default
    // profile_model only; 0: the network's own value.
    int64_t image[2]; // height, width
    int64_t tokens, classes;
    int64_t sample;     // characters that the trained model writes; -1: not given
    const char *prompt; // start of a sample; NULL: it starts after a line end
    double temperature; // for writing text; NaN: not given
    int64_t generate;   // tokens to generate after a prompt; 0: not asked
    const char *freeze[OPTIONS_MAX_FREEZE]; // patterns of paths
    int n_freeze;
    const char *recompute;                  // a pattern of paths, "auto", or NULL
    const char *inputs[OPTIONS_MAX_INPUTS]; // for an ONNX file: "NAME=1x3", "NAME=F.npy", "F.npy"
    int n_inputs;
    const char *sizes[OPTIONS_MAX_SIZES]; // for dimensions that the file leaves open: "seq=128"
    int n_sizes;
    const char *output; // a file for the first result; NULL: none
    bool inference;     // instead of a training step: as given, or the network's default
    bool train;         // --train was given, and no --inference after it
    bool kind_said;     // --train or --inference was given
    bool list, partial;

    bool fuse; // activations into linear layers (profile_mlp); batch norms folded (profile_model)

    int64_t batch, accumulate; // samples in a batch; batches in a step
    int64_t epochs, steps, iterations, warmup, threads, seed;
    bool has_epochs; // --epochs was given
    OptimizerKind optimizer;
    RateOptions rate;
    const char *device;              // a name listed in --help
    Precision precision;             // type to count reals in if nothing runs
    const char *data;                // a path; NULL: generated digits or sentences
    const char *checkpoint, *resume; // files; NULL: none
    int64_t every;                   // steps between checkpoints; 0: one epoch's
    const char *peaks;               // a machine's name or a file; NULL: this machine's peaks
    bool no_peaks;                   // --peaks none: no ceilings and no verdicts
    int64_t runs;                    // number of measuring processes, including this one
    const char *save;                // a file for a later --compare, also set as `json`; NULL: none
    const char *compare, *against;   // a saved profile; another command. NULL: not given
    const char *against_program;     // path of another build of this program
    bool force;                      // compare with a profile from another environment
    ThresholdList thresholds;        // as typed, not judged yet
    bool undecided_fails;            // an undecided limit makes the exit status 1
    const char *junit;               // a file for the verdicts; NULL: none
    const char *sweeps[SWEEP_AXES];  // "batch=1,8,64", as typed
    int n_sweeps;
    double max_latency; // limits on a sweep's best point; seconds, bytes; 0: none
    int64_t max_memory;
    bool measure_only; // one of the --runs processes: it prints its profile
    bool trains_too;   // such a process also trains
    bool calibrate;    // measure the peaks again
    bool percentiles, strict;
    double time_limit; // seconds; 0: not given

    const char *config;               // a file of options; NULL: none
    char *config_text, *config_lines; // owned: the file's text; its options, one per line
    bool file_is_unusable;            // the file cannot be read: exit status 3
    char place[240];                  // where in that file the refused option is: "FILE:3: "

    // Questions, answered instead of the report.
    bool explain;
    const char *explain_layer; // NULL: all
    ViewOptions view;
    const char *sort; // key for the rows of a view or a comparison; NULL: not given
    ComparisonSort comparison_sort;
    bool has_view, memory, leaks, weights, brief, summary, shrink, try_advice;
    double prune;          // share of the weights that --shrink prunes; NaN: not given
    int64_t depth;         // levels of the summary; -1: not given
    int64_t memory_budget; // bytes; 0: not asked
    Preset preset;
    bool has_preset;

    const char *json, *trace, *tinytorch, *memory_json; // files; NULL: none; "-": stdout
    const char *html, *csv, *gbench, *openmetrics;      // files, too
    const char *svg[PAGE_DRAWINGS];                     // files, too, by drawing
    const char *index;                                  // index page of `folder`
    const char *history;                                // a file to append to; NULL: none
    bool trend;                                         // print the history's trend; nothing runs
    const char *folder; // for all of these files that are possible; NULL: none
    char *folder_paths; // owned: their paths
    bool quiet, help, version, devices, man;
    bool told;              // --help, --version, --list ...: nothing is profiled
    const char *completion; // a shell's name; NULL: not asked
    const char *topic;      // a help topic; NULL: the first page
} Options;

// The value of an --input: the part after "NAME=", or the whole text if it has no name or is itself
// the path of a file.
const char *options_input_value(const char *text);
// True if a flag reads or writes this file (--peaks, --json ...).
bool options_has_file(const Options *options, const char *path);
bool options_is_onnx(const char *model); // by file name: "NAME.onnx", case ignored

// False after one line on standard error: what is wrong, where, and what to do (exit status 2).
bool options_parse(int argc, char **argv, const ProgramLine *line, Options *options);
void options_free(Options *options); // also after a refusal
// Clears the options that a measure-only process ignores on the same command line.
void options_measure_only(Options *options, bool trains);
// Print to standard output: the first help page or the topic's page (false after one line on
// standard error); a shell's completion script; the manual page.
bool options_print_help(const Options *options);
void options_print_completion(const Options *options);
void options_print_man(const Options *options);
// True for --recompute auto: the memory budget then chooses layers and is not a question.
bool options_choose_recompute(const Options *options);
// "compare", "against" or "against-program", whichever was given, or NULL.
const char *options_beside(const Options *options);
// True if a question was asked, whose answer replaces the report.
bool options_ask(const Options *options);
// True if only the initial weights are asked for, so that nothing needs to run.
bool options_need_weights_only(const Options *options);
// The flag that names the i-th output file, and its path (NULL: not written); returns NULL past the
// last.
const char *options_output(const Options *options, int i, const char **path);
// True if one of these drawings gets its own file; a mask, 1 << PAGE_ROOFLINE | ...
bool options_draw(const Options *options, unsigned drawings);
// The file name of output i in --output's folder, or NULL if it does not go there.
const char *options_in_folder(const Options *options, int i);
bool options_is_in_folder(const Options *options, const char *path);
// True if a file is written to standard output.
bool options_take_output(const Options *options);

#endif
