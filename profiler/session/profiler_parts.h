// profiler_parts.h -- internal to profiler/: the structure of a session. Not here: its meaning
// (profiler.h).
#ifndef PROFILER_SESSION_PROFILER_PARTS_H
#define PROFILER_SESSION_PROFILER_PARTS_H

#include "profiler/session/profiler.h"

typedef enum StepFate { STEP_UNSEEN, STEP_WARMUP, STEP_KEPT } StepFate;

typedef struct Spent { // totals over ops
    OpCost cost;
    Traffic traffic;
} Spent;

typedef struct EventSums { // events of one kind, in nanoseconds
    ProfileEvent like;
    int64_t calls, total, self, device;
    Spent spent;
} EventSums;

// The sums for an event that is still open. before: kept nanoseconds before it began; nested: those
// of ended events in it; own: the ops of its own call site.
typedef struct OpenSums {
    bool known;
    int64_t begin, before, nested;
    Spent own;
} OpenSums;

typedef struct SessionSums {
    EventSums *groups; // owned
    int n_groups, capacity;
    int64_t steps, kept, self;          // kept steps; their nanoseconds; self time of all groups
    int64_t events_summed;              // the first events of the timeline, which are in the groups
    int64_t events_gone;                // events in the groups and no longer in the timeline
    OpenSums open[TIMELINE_MOST_DEPTH]; // parallel to the timeline's open events
} SessionSums;

// *after = sums and the rest of the timeline's events; the caller frees its groups. On failure
// *after is empty.
Status session_sums_after(const SessionSums *sums, const Timeline *timeline, SessionSums *after);

struct Profiler {
    Timeline timeline;
    SessionSums sums;     // of steps that made room for newer ones
    int64_t largest_step; // events of the largest kept step
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

// Number of events that were kept, those that are only in sums included.
static inline int64_t profiler_events(const Profiler *profiler) {
    return profiler->timeline.count + profiler->sums.events_gone;
}

// The input for the verdict on an op's row: its own work in its own time.
RooflineInput profiler_row_input(const ProfilerRow *row);

#endif
