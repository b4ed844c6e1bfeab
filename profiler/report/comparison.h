// comparison.h -- internal to profiler/: profiles of several networks in one table, a row each.
// Not here: one profile (report.h), or how the profiles are made (program/program_compare.c).
#ifndef PROFILER_REPORT_COMPARISON_H
#define PROFILER_REPORT_COMPARISON_H

#include <stdio.h>

#include "profiler/measure/profile.h"

typedef enum ComparisonSort { // all but order: largest first; ties in the order typed
    COMPARISON_ORDER,         // in the order typed
    COMPARISON_PARAMETERS,
    COMPARISON_FLOPS,  // of a step
    COMPARISON_BYTES,  // of a step
    COMPARISON_MEMORY, // peak memory of a step
    COMPARISON_TIME,   // median of a step, if it ran
    COMPARISON_SORT_COUNT
} ComparisonSort;
const char *comparison_sort_name(ComparisonSort sort); // "memory"

typedef struct Compared {
    const char *name; // as typed on the command line, for the first column
    const Profile *profile;
} Compared;

// Sorts the rows, and prints them in 80 columns: counts and memory of each, and, if steps ran, a
// second table of times. All have the same kind, optimizer and device.
void comparison_print(Compared *rows, int n, ComparisonSort sort, FILE *file);

#endif
