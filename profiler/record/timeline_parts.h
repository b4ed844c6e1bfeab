// timeline_parts.h -- internal to profiler/: declarations shared by the timeline's files.
#ifndef PROFILER_RECORD_TIMELINE_PARTS_H
#define PROFILER_RECORD_TIMELINE_PARTS_H

#include "profiler/record/timeline.h"

// Allocates memory with every page touched: a page fault inside an event would be charged to a
// layer. NULL with an error pending.
void *timeline_room(int64_t capacity, size_t size);

// timeline_device.c: allocates stamps; stamps an event before it begins and after it ended, so that
// the host's time excludes the stamping (`there`: the device runs it); reads the times of all
// stamps, waiting for the device once.
Status timeline_reserve(Timeline *timeline);
void timeline_begin_on_device(Timeline *timeline, bool there);
void timeline_end_on_device(Timeline *timeline, const ProfileEvent *event);
Status timeline_settle(Timeline *timeline);

// timeline_traffic.c: the touches of ops whose traffic is still to be found. Finding it while they
// run would take longer than recording them.
struct TouchLog {
    Reuse *reuse;
    OpTraffic *traffic; // parallel to the events
    OpTouched *ops;     // parallel to the events; valid for ops from `found` on
    Touch *touches;     // the ops' touches, in the same order
    int64_t n_touches, capacity;
    int64_t found; // number of events whose traffic is found
};

TouchLog *touch_log_new(const Machine *machine, int64_t events); // NULL with an error pending
void touch_log_free(TouchLog *log);                              // NULL is fine
// Adds the touches of the op at event `index`; call is NULL for an op that moves nothing.
void touch_log_add(Timeline *timeline, int64_t index, const OpCall *call);
// Finds the traffic of all events, and removes that of the first `count`.
void touch_log_drop_oldest(Timeline *timeline, int64_t count);

#endif
