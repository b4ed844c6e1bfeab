// sweep_print.h -- a sweep for people: each point a row, a picture of what is bought with what, and
// what a batch in between would take. Not here: which points are worth having (sweep.h). 80
// columns, and plain characters.
#ifndef PROFILER_COMPARE_SWEEP_PRINT_H
#define PROFILER_COMPARE_SWEEP_PRINT_H

#include <stdio.h>

#include "profiler/compare/sweep.h"

// Of a sweep that is judged.
void sweep_print(const Sweep *sweep, FILE *file);
// "batch 8, threads 2"
enum { SWEEP_NAME = SWEEP_AXES * (16 + SWEEP_TEXT + 4) };
void sweep_name(const Sweep *sweep, int64_t point, char name[SWEEP_NAME]);

#endif
