// sweep_print.h -- prints a sweep: a row for each point, a plot of gain over cost, and the
// predicted time of a batch between measured ones. Not here: choosing points (sweep.h). 80 columns,
// plain characters.
#ifndef PROFILER_COMPARE_SWEEP_PRINT_H
#define PROFILER_COMPARE_SWEEP_PRINT_H

#include <stdio.h>

#include "profiler/compare/sweep.h"

// The sweep must be judged (sweep_judge).
void sweep_print(const Sweep *sweep, FILE *file);
// A point's name: "batch 8, threads 2"
enum { SWEEP_NAME = SWEEP_AXES * (16 + SWEEP_TEXT + 4) };
void sweep_name(const Sweep *sweep, int64_t point, char name[SWEEP_NAME]);

#endif
