// options_table.h -- internal to profiler/: the one table of flags that parsing and help share.
#ifndef PROFILER_PROGRAM_OPTIONS_TABLE_H
#define PROFILER_PROGRAM_OPTIONS_TABLE_H

#include <stddef.h>

#include "profiler/program/options.h"

typedef struct FlagTopic { // a help topic
    const char *name, *heading;
} FlagTopic;

extern const FlagTopic flag_topics[];
extern const int flag_topic_count;

enum {                  // kinds of flags
    FLAG_RUNS = 1,      // needs something that runs: no meaning on the meta device
    FLAG_TRAINS = 2,    // about training: no meaning with --inference
    FLAG_FROM_LEAST = 4 // its least value equals leaving it out
};
enum {               // features that a flag does not go with
    NOT_SEVERAL = 1, // several networks in a table
    NOT_COMPARED = 2,
    NOT_SWEPT = 4,
    NOT_TREND = 8,
    ALONE = 15
};

typedef struct Flag {
    int topic;            // index in flag_topics
    unsigned programs;    // programs that have it: PROGRAM_MLP | PROGRAM_MODEL
    bool first_page;      // shown on the first help page
    const char *name;     // "batch"
    const char *argument; // "N"; "[LAYER]": optional; NULL: none
    const char *help;
    // text is NULL if an optional argument was left out
    bool (*take)(Options *options, const struct Flag *flag, const char *text);
    size_t offset;       // of the field to set, for flags that share a `take`
    int64_t least, most; // limits of a number
    // The i-th named value, NULL past the last. NULL: no named values.
    const char *(*value)(int i);
    unsigned is, not_with; // FLAG_RUNS | ..., NOT_SEVERAL | ...
    const char *needs;     // another flag that it requires; NULL: none
    char letter;           // short form, as in -q; 0: none
} Flag;

extern const Flag options_flags[];
extern const int options_flag_count;

// Prints the program's name and this message in a line on standard error. Always returns false.
bool options_refuse(const Options *options, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// options_file.c: the path that --config names, or NULL (also if help is asked for); takes the
// file's options. False after one line, as above.
const char *options_file_typed(char **argv);
bool options_file_take(Options *options, const char *path);

extern const char options_exit_text[]; // help on exit statuses

// True if the options fit together, checked before and after the device and epochs are known; else
// as above. They also set `sort` and the precision of a named machine's peak.
bool options_fit_together(Options *options);
bool options_can_be_done(Options *options);
// options_inputs.c: puts the inputs from a --config file before those that were typed.
bool options_inputs_merge(Options *options, const Options *filed);
// Takes a flag and records it as given. False for an invalid argument, as above.
bool options_take(Options *options, const Flag *flag, const char *text);
// Refuses an unknown flag, and suggests a similar one.
bool options_unknown(const Options *options, const char *dashes, const char *name);
// options_given.c: true if a flag was given with an effect, by flag or by name; the name of the
// first given flag of the kinds in `is` or `not_with`, such as "optimizer" (NULL: none).
const Flag *options_flag(const Options *options, const char *name); // NULL: this program has none
bool options_has(const Options *options, const char *name);
const char *options_first(const Options *options, unsigned is, unsigned not_with);
// True if every given flag has the flag that it needs.
bool options_have_needs(const Options *options);
// options_files.c: true if output files differ from one another and from the input files.
bool options_files_differ(const Options *options);
// options_several.c: checks for several networks, comparisons, sweeps and limits.
bool options_take_kind(Options *options); // the default: inference or training
bool options_of_several(const Options *options);
bool options_sweep_makes_sense(const Options *options);

// ---- options_take.c -----------------------------------------------------------------------------
// These set the field at flag->offset: a switch, a text, a file to read ("-" is standard input), a
// whole number from flag->least to flag->most, a size in bytes, a part of a training; one of
// flag->value's names, or its index as an enumeration.
typedef bool FlagTake(Options *options, const Flag *flag, const char *text);
FlagTake take_switch, take_text, take_read, take_count, take_size, take_length, take_name,
    take_choice;
// All other flags have a function of their own.
FlagTake take_layers, take_activation, take_learning_rate, take_schedule, take_factor, take_prune,
    take_temperature, take_prompt, take_image, take_input, take_open_size, take_kind, take_freeze,
    take_config, take_against, take_output, take_threshold, take_undecided, take_sweep, take_peaks,
    take_help, take_explain, take_by, take_top, take_layer, take_preset, take_time, take_time_limit,
    take_svg;

#endif
