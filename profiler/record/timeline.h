// timeline.h -- an observer that stamps begin and end of what runs into a buffer allocated before.
// While it records it allocates nothing, formats nothing and takes no lock; names come at report
// time.
//
// On a device with stamps (tensor/device.h) an op has two times: its event's is the host's, who
// only launched it, and device_times has the device's. The device's begins when it was ready for
// the op: where it waits for launches, that is before the launch arrived, unless it was held back.
#ifndef PROFILER_RECORD_TIMELINE_H
#define PROFILER_RECORD_TIMELINE_H

#include "profiler/record/step_record.h"

RIDGEPOINT_API_BEGIN

typedef enum EventKind {
    EVENT_OP,      // of the engine, or a PROFILE_KERNEL
    EVENT_SITE,    // a layer's forward, or a PROFILE_SCOPE
    EVENT_STEP,    // from one profiler_step to the next
    EVENT_COUNTER, // a value of the user's at a moment
    EVENT_MEMORY,  // live bytes of a category, after they changed
    EVENT_COPY,    // between the program's memory and a device's own
} EventKind;

typedef struct ProfileEvent {
    int64_t begin, end; // nanoseconds of tensor/clock.h
    int64_t nested;     // of them, inside events that began and ended within this one
    union {
        const Op *op;        // EVENT_OP
        const char *counter; // EVENT_COUNTER
        int64_t step;        // EVENT_STEP: its number
        int64_t category;    // EVENT_MEMORY: MemoryCategory
        bool to_host;        // EVENT_COPY: else to the device
    };
    union {
        double value;  // EVENT_COUNTER, EVENT_MEMORY; EVENT_COPY: bytes
        int64_t woken; // EVENT_OP: sleeping threads that were given ranges of it
    };
    int32_t site;   // of the context it ran in (EVENT_SITE: itself); -1: outside any layer
    uint8_t phase;  // Phase, as the op ended
    uint8_t kind;   // EventKind
    uint16_t depth; // events that were open around it
} ProfileEvent;

typedef struct TouchLog TouchLog; // timeline_parts.h

// When the device came to an op or a copy and was through with it: nanoseconds of tensor/clock.h.
// 0: it has no time of its own, as a view. Below 0 while it is not known: -1 - a stamp's index.
typedef struct EventTimes {
    int64_t begin, end;
} EventTimes;

typedef struct TimelineOptions {
    int64_t capacity;
    bool sites;             // layers, scopes, counters and copies too
    bool memory;            // live bytes too
    bool costs;             // what each op costs
    const Machine *machine; // with costs: by level of reuse; NULL: levels are not asked
    // Whose own time of each op is wanted. One with stamps gives it and is not waited for; one that
    // only runs behind is waited for at the end of each op. NULL: as the program sees them.
    Device *device;
} TimelineOptions;

enum {
    TIMELINE_MOST_DEPTH = 64,
    TIMELINE_MOST_STAMPS = 8192, // of the device at a time: when they are used up, it is waited for
};

typedef struct Timeline {
    Observer observer;    // first
    ProfileEvent *events; // in the order in which they ended
    OpCost *costs;        // beside events, of ops; NULL: not asked
    TouchLog *touched;    // with costs and a machine
    int64_t count, capacity;
    int64_t dropped; // events that found the buffer full
    const Machine *machine;
    int64_t woken;            // by the pool, before the op that runs
    Device *device;           // of the options, where it makes a difference
    EventTimes *device_times; // beside events; NULL: the device has no stamps
    int64_t *readings;        // room for those
    int64_t stamps, most_stamps;
    int depth; // events open now
    struct {
        int64_t begin, nested;
        int64_t device_begin; // as in EventTimes
    } open[TIMELINE_MOST_DEPTH];
} Timeline;

Status timeline_new(Timeline *timeline, TimelineOptions options);
void timeline_free(Timeline *timeline);
// Begins to observe the current context. STATUS_STATE where another one there has the device's
// stamps; else as the device fails. Without a device it cannot.
Status timeline_start(Timeline *timeline);
// What is still open leaves no event. Waits for the device, and finds out its times; should it
// fail, events have none.
Status timeline_stop(Timeline *timeline);
void timeline_add(Timeline *timeline, ProfileEvent event); // a step or a counter
// What is live now, so that categories that will not change have a value too; done at a start.
void timeline_add_live(Timeline *timeline);
// Beside events, what ops moved: found now, where it was not before. NULL: costs, or a machine,
// were not asked for.
const OpTraffic *timeline_traffic(const Timeline *timeline);
// Forgets events from number `count` on. What their ops touched stays as warm as they left it.
void timeline_rewind(Timeline *timeline, int64_t count);
// Is somebody recording in the current context who has the device's stamps? There is one set.
bool timeline_has_stamps(const Device *device);

// NULL: it has none, or they are not known yet.
static inline const EventTimes *timeline_device_times(const Timeline *timeline, int64_t index) {
    const EventTimes *times =
        timeline && timeline->device_times ? &timeline->device_times[index] : NULL;
    return times && times->begin > 0 && times->end > 0 ? times : NULL;
}

static inline int64_t event_self_nanoseconds(const ProfileEvent *event) {
    return event ? event->end - event->begin - event->nested : 0;
}

RIDGEPOINT_API_END

#endif
