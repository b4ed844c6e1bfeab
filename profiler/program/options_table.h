// options_table.h -- internal to profiler/: the one table of flags that parsing and help share.
#ifndef PROFILER_PROGRAM_OPTIONS_TABLE_H
#define PROFILER_PROGRAM_OPTIONS_TABLE_H

#include <stddef.h>

#include "profiler/program/options.h"

typedef struct Flag {
    const char *group;    // heading before it in the help; NULL: as the one before
    const char *name;     // "batch"
    const char *argument; // "N"; "[LAYER]": may be left out; NULL: takes none
    const char *help;
    // text NULL: an optional argument was left out
    bool (*take)(Options *options, const struct Flag *flag, const char *text);
    size_t offset;       // of what it sets, for those that only differ in that
    int64_t least, most; // of a number
} Flag;

extern const Flag options_flags[];
extern const int options_flag_count;

#endif
