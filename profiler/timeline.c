// timeline.c -- two clock readings and one store per op.
#include "profiler/timeline.h"

#include <string.h>

#include "tensor/clock.h"
#include "tensor/memory.h"

static void begin(Observer *observer, const OpCall *call) {
    Timeline *timeline = (Timeline *)observer;
    if (timeline->count == timeline->capacity) return;
    ProfileEvent *event = &timeline->events[timeline->count];
    event->op = (uint16_t)call->op->id;
    event->begin = clock_nanoseconds();
}

static void end(Observer *observer, const OpCall *call) {
    (void)call;
    Timeline *timeline = (Timeline *)observer;
    if (timeline->count == timeline->capacity) {
        timeline->dropped++;
        return;
    }
    ProfileEvent *event = &timeline->events[timeline->count++];
    event->end = clock_nanoseconds();
    const Context *context = context_current();
    event->site = context->site;
    event->phase = (uint8_t)context->phase;
}

Status timeline_new(Timeline *timeline, int64_t capacity) {
    memset(timeline, 0, sizeof(*timeline));
    timeline->events = memory_new((size_t)capacity * sizeof(ProfileEvent));
    if (!timeline->events) return STATUS_OUT_OF_MEMORY;
    // Touch every page now: a page fault inside an event would be charged to a layer.
    memset(timeline->events, 0xff, (size_t)capacity * sizeof(ProfileEvent));
    timeline->capacity = capacity;
    timeline->observer.op_begin = begin;
    timeline->observer.op_end = end;
    return STATUS_OK;
}

void timeline_free(Timeline *timeline) {
    memory_free(timeline->events);
    timeline->events = NULL;
    timeline->capacity = timeline->count = 0;
}

void timeline_start(Timeline *timeline) { observer_add(&timeline->observer); }
void timeline_stop(Timeline *timeline) { observer_remove(&timeline->observer); }
