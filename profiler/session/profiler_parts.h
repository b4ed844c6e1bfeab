// profiler_parts.h -- internal to profiler/: what a session is made of. Not here: its meaning
// (profiler.h).
#ifndef PROFILER_SESSION_PROFILER_PARTS_H
#define PROFILER_SESSION_PROFILER_PARTS_H

#include "profiler/session/profiler.h"

typedef enum StepFate { STEP_UNSEEN, STEP_WARMUP, STEP_KEPT } StepFate;

struct Profiler {
    Timeline timeline;
    ProfilerSchedule schedule;
    int64_t every_epochs;
    SiteReader reader; // of the context observed now, or last; NULL: none yet, or it is gone
    bool started, observing;
    int64_t step;                 // of the user's loop, from 0: the one that runs now
    int64_t epoch, epoch_step;    // from 0; the step within it, where the schedule counts epochs
    StepFate fate;                // its own
    int64_t begin;                // when it began, or went on: nanoseconds
    int64_t count, dropped;       // of the timeline, then
    int64_t recorded_nanoseconds; // before it, and kept
};

// What a row of an op is judged by: its own work in its own time.
RooflineInput profiler_row_input(const ProfilerRow *row);

#endif
