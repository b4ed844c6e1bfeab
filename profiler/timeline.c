// timeline.c -- two clock readings and one store per event.
#include "profiler/timeline.h"

#include <string.h>

#include "tensor/clock.h"
#include "tensor/memory.h"

// An event ends in the innermost open one, so a stack of beginnings is all that is open.
static void begin(Timeline *timeline) {
    int at = timeline->depth++;
    if (at >= TIMELINE_MOST_DEPTH) return;
    timeline->open[at].nested = 0;
    timeline->open[at].begin = clock_nanoseconds();
}

// Room for an event that ends now, filled in but for what it is; NULL: dropped.
static ProfileEvent *end(Timeline *timeline) {
    int64_t now = clock_nanoseconds();
    if (timeline->depth == 0) return NULL; // it began before the recording
    int at = --timeline->depth;
    if (timeline->count == timeline->capacity || at >= TIMELINE_MOST_DEPTH) {
        timeline->dropped++;
        return NULL;
    }
    ProfileEvent *event = &timeline->events[timeline->count++];
    event->begin = timeline->open[at].begin;
    event->end = now;
    event->nested = timeline->open[at].nested;
    event->depth = (uint16_t)at;
    if (at > 0) timeline->open[at - 1].nested += now - event->begin;
    return event;
}

static void op_begin(Observer *observer, const OpCall *call) {
    (void)call;
    begin((Timeline *)observer);
}

static void op_end(Observer *observer, const OpCall *call) {
    Timeline *timeline = (Timeline *)observer;
    if (timeline->device) device_synchronize(timeline->device);
    ProfileEvent *event = end(timeline);
    if (!event) return;
    const Context *context = context_current();
    event->op = call->op;
    event->kind = EVENT_OP;
    event->site = context->site;
    event->phase = (uint8_t)context->phase;
    if (!timeline->costs) return;
    EventCost *cost = &timeline->costs[event - timeline->events];
    memset(cost, 0, sizeof(*cost));
    if (context->error.status) return; // it failed
    cost->cost = op_cost(call);
    if (timeline->machine && !(call->op->flags & OP_VIEW))
        level_bytes_find(timeline->machine, call, &cost->cost, cost->level_bytes);
}

static void site_begin(Observer *observer, int site) {
    (void)site;
    begin((Timeline *)observer);
}

static void site_end(Observer *observer, int site) {
    ProfileEvent *event = end((Timeline *)observer);
    if (!event) return;
    event->op = NULL;
    event->kind = EVENT_SITE;
    event->site = site;
    event->phase = (uint8_t)context_current()->phase;
}

// A moment without extent.
static void add_value(Timeline *timeline, ProfileEvent event) {
    event.begin = event.end = clock_nanoseconds();
    event.site = context_current()->site;
    event.depth = (uint16_t)timeline->depth;
    timeline_add(timeline, event);
}

static void counter(Observer *observer, const char *name, double value) {
    ProfileEvent event = {.counter = name, .value = value, .kind = EVENT_COUNTER};
    add_value((Timeline *)observer, event);
}

static void storage_changed(Observer *observer, const Storage *storage, int64_t delta) {
    (void)delta;
    double live = (double)storage->ledger->live.category[storage->category];
    ProfileEvent event = {.category = storage->category, .value = live, .kind = EVENT_MEMORY};
    add_value((Timeline *)observer, event);
}

void timeline_add(Timeline *timeline, ProfileEvent event) {
    if (timeline->count == timeline->capacity)
        timeline->dropped++;
    else
        timeline->events[timeline->count++] = event;
}

// Touches every page now: a page fault inside an event would be charged to a layer.
static void *touched(int64_t capacity, size_t size) {
    void *block = memory_new((size_t)capacity * size);
    if (block) memset(block, 0xff, (size_t)capacity * size);
    return block;
}

Status timeline_new(Timeline *timeline, TimelineOptions options) {
    memset(timeline, 0, sizeof(*timeline));
    timeline->events = touched(options.capacity, sizeof(ProfileEvent));
    if (timeline->events && options.costs)
        timeline->costs = touched(options.capacity, sizeof(EventCost));
    if (!timeline->events || (options.costs && !timeline->costs)) {
        timeline_free(timeline);
        return STATUS_OUT_OF_MEMORY;
    }
    timeline->capacity = options.capacity;
    timeline->machine = options.machine;
    timeline->device = options.device && options.device->synchronize ? options.device : NULL;
    timeline->observer.op_begin = op_begin;
    timeline->observer.op_end = op_end;
    if (options.memory) timeline->observer.storage = storage_changed;
    if (options.sites) {
        timeline->observer.site_begin = site_begin;
        timeline->observer.site_end = site_end;
        timeline->observer.counter = counter;
    }
    return STATUS_OK;
}

void timeline_free(Timeline *timeline) {
    memory_free(timeline->events);
    memory_free(timeline->costs);
    timeline->events = NULL;
    timeline->costs = NULL;
    timeline->capacity = timeline->count = 0;
}

void timeline_add_live(Timeline *timeline) {
    const Ledger *ledger = timeline->observer.storage ? context_current()->ledger : NULL;
    for (int c = 0; ledger && c < MEM_COUNT; c++) {
        double live = (double)ledger->live.category[c];
        if (live > 0.0)
            add_value(timeline, (ProfileEvent){.category = c, .value = live, .kind = EVENT_MEMORY});
    }
}

void timeline_start(Timeline *timeline) {
    timeline->depth = 0;
    timeline_add_live(timeline);
    observer_add(&timeline->observer);
}

void timeline_stop(Timeline *timeline) { observer_remove(&timeline->observer); }
