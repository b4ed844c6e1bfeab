// timeline.h -- an observer that stamps begin and end of events into a preallocated buffer. While
// recording it allocates nothing, formats nothing and takes no lock; names come at report time.
//
// On a device with stamps (tensor/device.h) an op has two times: its event has the host's time,
// which only covers the launch, and device_times has the device's. The device's time begins when it
// was ready for the op: if it waits for launches, that is before the launch, unless it was held
// back.
#ifndef PROFILER_RECORD_TIMELINE_H
#define PROFILER_RECORD_TIMELINE_H

#include "profiler/record/step_record.h"

RIDGEPOINT_API_BEGIN

typedef enum EventKind {
    EVENT_OP,      // an op of the engine, or a PROFILE_KERNEL
    EVENT_SITE,    // a layer's forward, or a PROFILE_SCOPE
    EVENT_STEP,    // from one profiler_step to the next
    EVENT_COUNTER, // a user's value at a moment
    EVENT_MEMORY,  // live bytes of a category after a change
    EVENT_COPY,    // copy between the program's memory and a device's
} EventKind;

typedef struct ProfileEvent {
    int64_t begin, end; // nanoseconds of tensor/clock.h
    int64_t nested;     // part of it inside events that began and ended within this one
    union {
        const Op *op;        // EVENT_OP
        const char *counter; // EVENT_COUNTER
        int64_t step;        // EVENT_STEP: its number
        int64_t category;    // EVENT_MEMORY: MemoryCategory
        bool to_host;        // EVENT_COPY: else to the device
    };
    union {
        double value;  // EVENT_COUNTER, EVENT_MEMORY; EVENT_COPY: bytes
        int64_t woken; // EVENT_OP: number of sleeping threads given ranges of its work
    };
    int32_t site;   // site in its context (EVENT_SITE: itself); -1: outside any layer
    uint8_t phase;  // Phase at the op's end
    uint8_t kind;   // EventKind
    uint16_t depth; // number of events open around it
} ProfileEvent;

typedef struct TouchLog TouchLog; // timeline_parts.h

// The device's begin and end of an op or copy, in nanoseconds of tensor/clock.h. 0: no device time,
// as for a view. Negative while unknown: -1 - a stamp's index.
typedef struct EventTimes {
    int64_t begin, end;
} EventTimes;

typedef struct TimelineOptions {
    int64_t capacity;
    bool sites;             // record layers, scopes, counters and copies, too
    bool memory;            // record live bytes, too
    bool costs;             // record each op's cost
    const Machine *machine; // with costs: traffic by level of reuse; NULL: no levels
    // The device whose own op times are wanted: with stamps it supplies them without waiting; an
    // asynchronous one without stamps is waited for after each op. NULL: the program's times.
    Device *device;
} TimelineOptions;

enum {
    TIMELINE_MOST_DEPTH = 64,
    TIMELINE_MOST_STAMPS = 8192, // device stamps at a time; when all are used, it is waited for
};

typedef struct Timeline {
    Observer observer;    // first
    ProfileEvent *events; // in the order of their ends
    OpCost *costs;        // ops' costs, parallel to events; NULL: not requested
    TouchLog *touched;    // with costs and a machine
    int64_t count, capacity;
    int64_t dropped; // events lost because the buffer was full
    const Machine *machine;
    int64_t woken;            // threads woken by the pool before the op that runs
    Device *device;           // device of the options if its time differs; else NULL
    EventTimes *device_times; // parallel to events; NULL: the device has no stamps
    int64_t *readings;        // buffer for reading stamps
    int64_t stamps, most_stamps;
    int depth; // number of events open now
    struct {
        int64_t begin, nested;
        int64_t device_begin; // as EventTimes.begin
        int site;             // of a layer or scope; -1: an op or a copy
    } open[TIMELINE_MOST_DEPTH];
} Timeline;

Status timeline_new(Timeline *timeline, TimelineOptions options);
void timeline_free(Timeline *timeline);
// Starts to observe the current context. STATUS_STATE if another timeline there uses the device's
// stamps; else the device's own failures. Without a device it cannot fail.
Status timeline_start(Timeline *timeline);
// Stops observing. Open events are discarded. Waits for the device and reads its times; if that
// fails, events have no device times.
Status timeline_stop(Timeline *timeline);
void timeline_add(Timeline *timeline, ProfileEvent event); // a step or a counter
// Adds the live bytes, so that unchanging categories have a value, too; called at the start.
void timeline_add_live(Timeline *timeline);
// The traffic of ops, parallel to events; computed now where still missing. NULL: costs or a
// machine were not requested.
const OpTraffic *timeline_traffic(const Timeline *timeline);
// Discards events from number `count` on. The cache state that their ops left behind stays.
void timeline_rewind(Timeline *timeline, int64_t count);
// Removes the first `count` events, whose traffic is found first; later ones take their numbers.
void timeline_drop_oldest(Timeline *timeline, int64_t count);
// Waits for the device and reads the times of the events so far, while recording goes on.
Status timeline_settle_now(Timeline *timeline);
// True if a timeline of the current context uses the device's stamps. Each device has one set.
bool timeline_has_stamps(const Device *device);

// NULL: no device time, or not known yet.
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
