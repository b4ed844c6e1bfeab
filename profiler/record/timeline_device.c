// timeline_device.c -- op times measured by a device with stamps: two stamps around each op, read
// when the recording stops or the stamps are used up.
#include "profiler/record/timeline_parts.h"

static void settle_time(int64_t *time, const int64_t *readings) {
    if (*time < 0) *time = readings ? readings[-1 - *time] : 0;
}

// Waits for the device once, and replaces stamp numbers by times, also in open events and in the
// event being opened or closed.
Status timeline_settle(Timeline *timeline) {
    Device *device = timeline->device;
    Status status = device->stamps_read(device, timeline->stamps, timeline->readings);
    const int64_t *readings = status ? NULL : timeline->readings;
    for (int64_t i = 0; i < timeline->count; i++) {
        settle_time(&timeline->device_times[i].begin, readings);
        settle_time(&timeline->device_times[i].end, readings);
    }
    for (int i = 0; i <= timeline->depth && i < TIMELINE_MOST_DEPTH; i++)
        settle_time(&timeline->open[i].device_begin, readings);
    timeline->stamps = 0;
    return status;
}

Status timeline_reserve(Timeline *timeline) {
    timeline->stamps = 0;
    return timeline->device->stamps_reserve(timeline->device, timeline->most_stamps);
}

// Takes the next stamp and returns its number in the form of EventTimes; 0 if that fails. An error
// stays pending: it is the device's.
static int64_t take_stamp(Timeline *timeline) {
    if (error_pending()) return 0;
    bool full = timeline->stamps == timeline->most_stamps;
    if (full && (timeline_settle(timeline) || timeline_reserve(timeline))) return 0;
    if (timeline->device->stamp(timeline->device, timeline->stamps)) return 0;
    return -1 - timeline->stamps++;
}

void timeline_begin_on_device(Timeline *timeline, bool there) {
    int64_t stamp = timeline->device_times && there ? take_stamp(timeline) : 0;
    if (timeline->depth < TIMELINE_MOST_DEPTH) timeline->open[timeline->depth].device_begin = stamp;
}

void timeline_end_on_device(Timeline *timeline, const ProfileEvent *event) {
    int64_t begin = timeline->open[event->depth].device_begin;
    int64_t end = begin ? take_stamp(timeline) : 0;
    // Re-read: taking the last stamp may have settled it.
    begin = timeline->open[event->depth].device_begin;
    if (begin && end) timeline->device_times[event - timeline->events] = (EventTimes){begin, end};
}
