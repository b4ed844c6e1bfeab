// timeline.h -- an observer that stamps begin and end of every op into a buffer allocated before.
// While it records it allocates nothing, formats nothing and takes no lock; names come at report
// time.
#ifndef PROFILER_TIMELINE_H
#define PROFILER_TIMELINE_H

#include "tensor/context.h"

typedef struct ProfileEvent {
    int64_t begin, end; // nanoseconds of tensor/clock.h
    int32_t site;       // of the context it ran in; -1: outside any layer
    uint16_t op;        // OpId
    uint8_t phase;      // Phase, as the op ended
} ProfileEvent;

typedef struct Timeline {
    Observer observer; // first
    ProfileEvent *events;
    int64_t count, capacity;
    int64_t dropped; // events that found the buffer full
} Timeline;

Status timeline_new(Timeline *timeline, int64_t capacity);
void timeline_free(Timeline *timeline);
void timeline_start(Timeline *timeline); // begins to observe the current context
void timeline_stop(Timeline *timeline);
static inline void timeline_rewind(Timeline *timeline) { timeline->count = 0; }

#endif
