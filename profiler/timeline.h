// timeline.h -- an observer that stamps begin and end of what runs into a buffer allocated before.
// While it records it allocates nothing, formats nothing and takes no lock; names come at report
// time.
#ifndef PROFILER_TIMELINE_H
#define PROFILER_TIMELINE_H

#include "profiler/step_record.h"

typedef enum EventKind {
    EVENT_OP,      // of the engine, or a PROFILE_KERNEL
    EVENT_SITE,    // a layer's forward, or a PROFILE_SCOPE
    EVENT_STEP,    // from one profiler_step to the next
    EVENT_COUNTER, // a value of the user's at a moment
    EVENT_MEMORY,  // live bytes of a category, after they changed
} EventKind;

typedef struct ProfileEvent {
    int64_t begin, end; // nanoseconds of tensor/clock.h
    int64_t nested;     // of them, inside events that began and ended within this one
    union {
        const Op *op;        // EVENT_OP
        const char *counter; // EVENT_COUNTER
        int64_t step;        // EVENT_STEP: its number
        int64_t category;    // EVENT_MEMORY: MemoryCategory
    };
    double value;   // EVENT_COUNTER, EVENT_MEMORY
    int32_t site;   // of the context it ran in (EVENT_SITE: itself); -1: outside any layer
    uint8_t phase;  // Phase, as the op ended
    uint8_t kind;   // EventKind
    uint16_t depth; // events that were open around it
} ProfileEvent;

typedef struct EventCost { // of an op
    OpCost cost;
    uint64_t level_bytes[MACHINE_MAX_LEVELS];
} EventCost;

typedef struct TimelineOptions {
    int64_t capacity;
    bool sites;             // layers, scopes and counters too
    bool memory;            // live bytes too
    bool costs;             // what each op costs
    const Machine *machine; // with costs: by level of reuse; NULL: levels are not asked
    Device *device;         // waited for at the end of each op, so that its time is its own; NULL:
                            // ops are timed as the program sees them
} TimelineOptions;

enum { TIMELINE_MOST_DEPTH = 64 };

typedef struct Timeline {
    Observer observer;    // first
    ProfileEvent *events; // in the order in which they ended
    EventCost *costs;     // beside events; NULL: not asked
    int64_t count, capacity;
    int64_t dropped; // events that found the buffer full
    const Machine *machine;
    Device *device;
    int depth; // events open now
    struct {
        int64_t begin, nested;
    } open[TIMELINE_MOST_DEPTH];
} Timeline;

Status timeline_new(Timeline *timeline, TimelineOptions options);
void timeline_free(Timeline *timeline);
void timeline_start(Timeline *timeline);                   // begins to observe the current context
void timeline_stop(Timeline *timeline);                    // what is still open leaves no event
void timeline_add(Timeline *timeline, ProfileEvent event); // a step or a counter
// What is live now, so that categories that will not change have a value too; done at a start.
void timeline_add_live(Timeline *timeline);
static inline void timeline_rewind(Timeline *timeline) { timeline->count = 0; }

static inline int64_t event_self_nanoseconds(const ProfileEvent *event) {
    return event->end - event->begin - event->nested;
}

#endif
