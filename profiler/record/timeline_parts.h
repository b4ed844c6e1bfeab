// timeline_parts.h -- internal to profiler/: what the files of a timeline share.
#ifndef PROFILER_RECORD_TIMELINE_PARTS_H
#define PROFILER_RECORD_TIMELINE_PARTS_H

#include "profiler/record/timeline.h"

// Room whose every page is touched now: a page fault inside an event would be charged to a layer.
// NULL with an error pending.
void *timeline_room(int64_t capacity, size_t size);

// timeline_device.c: room for stamps; the stamps of an event, before it begins and after it ended,
// so that the host's time is without the stamping (`there`: it is the device's); the times of them
// all, for which the device is waited for once.
Status timeline_reserve(Timeline *timeline);
void timeline_begin_on_device(Timeline *timeline, bool there);
void timeline_end_on_device(Timeline *timeline, const ProfileEvent *event);
Status timeline_settle(Timeline *timeline);

// timeline_traffic.c: what ops touched whose traffic is still to be found. Looking it up while they
// run would take longer than to watch them.
struct TouchLog {
    Reuse *reuse;
    OpTraffic *traffic; // beside the events
    OpTouched *ops;     // beside the events; of those that are ops, from `found` on
    Touch *touches;     // theirs, in the same order
    int64_t n_touches, capacity;
    int64_t found; // so many events have their traffic
};

TouchLog *touch_log_new(const Machine *machine, int64_t events); // NULL with an error pending
void touch_log_free(TouchLog *log);                              // NULL is fine
// Of the op whose event has that index; of one that moves nothing call is NULL.
void touch_log_add(Timeline *timeline, int64_t index, const OpCall *call);

#endif
