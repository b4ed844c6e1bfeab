// profiler_parts.h -- internal to profiler/: the structure of a session. Not here: its meaning
// (profiler.h).
#ifndef PROFILER_SESSION_PROFILER_PARTS_H
#define PROFILER_SESSION_PROFILER_PARTS_H

#include "profiler/session/profiler.h"

typedef enum StepFate { STEP_UNSEEN, STEP_WARMUP, STEP_KEPT } StepFate;

struct Profiler {
    Timeline timeline;
    ProfilerSchedule schedule;
    int64_t every_epochs;
    SiteReader reader; // reader of the context observed now or last; NULL: none yet, or it is gone
    bool started, observing;
    int64_t step;                 // current step of the user's loop, from 0
    int64_t epoch, epoch_step;    // from 0; the step within it, if the schedule counts epochs
    StepFate fate;                // fate of the current step
    int64_t begin;                // time when the step began or resumed: nanoseconds
    int64_t count, dropped;       // timeline's count and dropped at that time
    int64_t recorded_nanoseconds; // nanoseconds kept before the step
};

// The input for the verdict on an op's row: its own work in its own time.
RooflineInput profiler_row_input(const ProfilerRow *row);

#endif
