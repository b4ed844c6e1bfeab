// sweep_axes.h -- internal to profiler/: the axes that --sweep may vary, and the flags for their
// values. Not here: the measurement of each point (program_sweep.c).
#ifndef PROFILER_PROGRAM_SWEEP_AXES_H
#define PROFILER_PROGRAM_SWEEP_AXES_H

#include "profiler/compare/sweep.h"
#include "profiler/program/options.h"

// Parses "batch=1,8,64". STATUS_INVALID_ARGUMENT, with the text, if it is not an axis.
Status sweep_axis_parse(const char *text, const ProgramLine *line, SweepAxis *axis);
// True if the axis changes what is learnt; *alone is true if it changes nothing else.
bool sweep_axis_learns(const char *text, bool *alone);
// Makes axes and open points of all --sweep flags. Fails as above, or if an axis appears twice.
Status sweep_axes_take(const Options *options, Sweep *sweep);

// The words to append to the typed command for a point: flags, after a network's name if `model` is
// an axis. "--batch=8 --threads=1", "resnet18 --batch=8"; "": nothing to add. The caller
// memory_frees them.
char *sweep_point_words(const Options *options, const Sweep *sweep, int64_t point);

// The i-th axis name and its description, for a help page; NULL past the last.
const char *sweep_axis_name(int i, const ProgramLine *line, const char **what);

#endif
