// profile_runs.h -- what the same profile gave in other processes: what differs from one to the
// next no process can tell of itself. Not here: starting them (program/program_runs.c).
#ifndef PROFILER_FILES_PROFILE_RUNS_H
#define PROFILER_FILES_PROFILE_RUNS_H

#include "profiler/profile.h"

// Of each latency of a phase, of layers and of the whole, and of a forward alone: its median, and
// those that n documents (profile_write_json, of the same work on the same device) have of it, as
// Latency.across, in place of what was there; and of the metronome. STATUS_FORMAT, with the run and
// the place, where a document is not of this profile's layers, or has no such median. The profile
// takes over the first difference between predicted and executed.
Status profile_take_runs(Profile *profile, char *const documents[], int n);

// Of one document, what a change is judged by.
typedef struct RunFigures {
    double units_per_second;
    double phase[REPORT_COUNT]; // seconds, medians; 0: there was none
    int64_t units;              // of a step
    double beat;                // by which the step is divided (profile_beat); NaN: it is not
    int threads;
    int64_t peak_bytes;
} RunFigures;
// STATUS_STATE where it was not executed as predicted.
Status run_figures_read(const char *document, RunFigures *figures);

#endif
