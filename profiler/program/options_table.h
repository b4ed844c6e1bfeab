// options_table.h -- internal to profiler/: the one table of flags that parsing and help share.
#ifndef PROFILER_PROGRAM_OPTIONS_TABLE_H
#define PROFILER_PROGRAM_OPTIONS_TABLE_H

#include <stddef.h>

#include "profiler/program/options.h"

typedef struct FlagTopic { // of the help
    const char *name, *heading;
} FlagTopic;

extern const FlagTopic flag_topics[];
extern const int flag_topic_count;

enum {                  // what a flag is
    FLAG_RUNS = 1,      // of something that runs: means nothing on the meta device
    FLAG_TRAINS = 2,    // of training: means nothing with --inference
    FLAG_FROM_LEAST = 4 // its least value says no more than leaving it out
};
enum {               // and of what it is no part
    NOT_SEVERAL = 1, // networks in a table
    NOT_COMPARED = 2,
    NOT_SWEPT = 4,
    NOT_TREND = 8,
    ALONE = 15
};

typedef struct Flag {
    int topic;            // of flag_topics
    unsigned programs;    // that take it: PROGRAM_MLP | PROGRAM_MODEL
    bool first_page;      // of the help
    const char *name;     // "batch"
    const char *argument; // "N"; "[LAYER]": may be left out; NULL: takes none
    const char *help;
    // text NULL: an optional argument was left out
    bool (*take)(Options *options, const struct Flag *flag, const char *text);
    size_t offset;       // of what it sets, for those that only differ in that
    int64_t least, most; // of a number
    // Of those that have names; NULL behind the last. NULL: they have none.
    const char *(*value)(int i);
    unsigned is, not_with; // FLAG_RUNS | ..., NOT_SEVERAL | ...
    const char *needs;     // another flag, without which it means nothing; NULL: none
    char letter;           // its short form, as in -q; 0: it has none
} Flag;

extern const Flag options_flags[];
extern const int options_flag_count;

// One line on standard error: the program's name, and this. False, for whoever returns that.
bool options_refuse(const Options *options, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// options_file.c: the file that --config names, if any, and not of one who asks for help; takes
// what it says. False after one line, as above.
const char *options_file_typed(char **argv);
bool options_file_take(Options *options, const char *path);

extern const char options_exit_text[]; // of the help

// Whether it fits together, before and after the device and epochs are known; else as above.
// `sort`, and the precision of a machine's peak, are taken then.
bool options_fit_together(Options *options);
bool options_can_be_done(Options *options);
// options_inputs.c: puts the inputs from a --config file before those that were typed.
bool options_inputs_merge(Options *options, const Options *filed);
// Takes a flag, and notes that it was given. False: its argument cannot be, as above.
bool options_take(Options *options, const Flag *flag, const char *text);
// Refuses what is no flag of this program, and names the one that may have been meant.
bool options_unknown(const Options *options, const char *dashes, const char *name);
// options_given.c: whether a flag was given, and says more than leaving it out; by its name; and
// the first of those that are, or go, so: "optimizer". NULL: there is none.
bool options_gives(const Options *options, const Flag *flag);
const Flag *options_flag(const Options *options, const char *name); // of this program; NULL: none
bool options_has(const Options *options, const char *name);
const char *options_first(const Options *options, unsigned is, unsigned not_with);
// Has each that was given what it needs?
bool options_have_needs(const Options *options);
// options_files.c: the files that it writes, from one another, and from those that it reads.
bool options_files_differ(const Options *options);
// options_several.c: the same of several networks, comparisons, sweeps and limits.
bool options_take_kind(Options *options); // inference or a training step, where nobody says which
bool options_of_several(const Options *options);
bool options_sweep_makes_sense(const Options *options);

// ---- options_take.c -----------------------------------------------------------------------------
// What is at flag->offset: a switch, a text, a file to read ("-" is standard input), a whole number
// from flag->least to flag->most, a size in bytes, a part of a training; of flag->value's names
// one, or its place as an enumeration.
typedef bool FlagTake(Options *options, const Flag *flag, const char *text);
FlagTake take_switch, take_text, take_read, take_count, take_size, take_length, take_name,
    take_choice;
// All others have their own.
FlagTake take_layers, take_activation, take_learning_rate, take_schedule, take_factor, take_prune,
    take_temperature, take_prompt, take_image, take_input, take_open_size, take_kind, take_freeze,
    take_config, take_against, take_output, take_threshold, take_undecided, take_sweep, take_peaks,
    take_help, take_explain, take_by, take_top, take_layer, take_preset, take_time, take_time_limit,
    take_svg;

#endif
