// sweep_axes.h -- internal to profiler/: what --sweep may vary, and the flags of a value of it. Not
// here: what is measured at each point (program_sweep.c).
#ifndef PROFILER_PROGRAM_SWEEP_AXES_H
#define PROFILER_PROGRAM_SWEEP_AXES_H

#include "profiler/compare/sweep.h"
#include "profiler/program/options.h"

// "batch=1,8,64". STATUS_INVALID_ARGUMENT, naming it, where it is none.
Status sweep_axis_parse(const char *text, const ProgramLine *line, SweepAxis *axis);
// Whether the axis changes what is learnt, and whether nothing else.
bool sweep_axis_learns(const char *text, bool *alone);
// All that --sweep said, as axes with no points yet. As above, or one axis twice.
Status sweep_axes_take(const Options *options, Sweep *sweep);

// What stands behind the command as typed for it to be that point's: flags, behind a network's name
// where that is an axis. "--batch=8 --threads=1", "resnet18 --batch=8"; "": all as typed. Yours to
// memory_free.
char *sweep_point_words(const Options *options, const Sweep *sweep, int64_t point);

// Names and what they are of, for a help page; NULL behind the last.
const char *sweep_axis_name(int i, const ProgramLine *line, const char **what);

#endif
