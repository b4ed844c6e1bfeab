// timeline.c -- two clock readings and one store per event. Not here: a device's own time
// (timeline_device.c), or the traffic of ops (timeline_traffic.c).
#include "profiler/record/timeline_parts.h"

#include <string.h>

#include "tensor/clock.h"
#include "tensor/given.h"
#include "tensor/memory.h"
#include "tensor/pool.h"

// An event ends in the innermost open one, so the open events form a stack of begins.
static void begin(Timeline *timeline, int site) {
    int at = timeline->depth++;
    if (at >= TIMELINE_MOST_DEPTH) return;
    timeline->open[at].site = site;
    timeline->open[at].nested = 0;
    timeline->open[at].begin = clock_nanoseconds();
}

// Adds an event that ends now, all set but its kind and content; NULL: dropped.
static ProfileEvent *end(Timeline *timeline) {
    int64_t now = clock_nanoseconds();
    if (timeline->depth == 0) return NULL; // the event began before the recording
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
    if (timeline->device_times) timeline->device_times[event - timeline->events] = (EventTimes){0};
    if (at > 0) timeline->open[at - 1].nested += now - event->begin;
    return event;
}

// ---- events ----------------------------------------------------------------------------------
// True if the op runs on the device: views launch nothing, and a PROFILE_KERNEL is the host's.
static bool is_launched(const Timeline *timeline, const OpCall *call) {
    if (call->op->flags & OP_VIEW) return false;
    for (int i = 0; i < call->n_in; i++)
        if (call->in[i]) return call->in[i]->device == timeline->device;
    return false;
}

static void op_begin(Observer *observer, const OpCall *call) {
    Timeline *timeline = (Timeline *)observer;
    timeline->woken = pool_counts(context_current()->pool).woken;
    if (timeline->device_times) timeline_begin_on_device(timeline, is_launched(timeline, call));
    begin(timeline, -1);
}

bool timeline_has_stamps(const Device *device) {
    for (const Observer *o = context_current()->observers; o; o = o->next) {
        const Timeline *timeline = (const Timeline *)o;
        if (o->op_begin == op_begin && timeline->device_times && timeline->device == device)
            return true;
    }
    return false;
}

static void op_end(Observer *observer, const OpCall *call) {
    Timeline *timeline = (Timeline *)observer;
    if (timeline->device && !timeline->device_times) device_synchronize(timeline->device);
    ProfileEvent *event = end(timeline);
    if (!event) return;
    if (timeline->device_times) timeline_end_on_device(timeline, event);
    const Context *context = context_current();
    event->op = call->op;
    event->kind = EVENT_OP;
    event->site = context->site;
    event->phase = (uint8_t)context->phase;
    event->woken = pool_counts(context->pool).woken - timeline->woken;
    if (!timeline->costs) return;
    int64_t index = event - timeline->events;
    bool failed = context->error.status, moves = !failed && !(call->op->flags & OP_VIEW);
    timeline->costs[index] = failed ? (OpCost){0} : op_cost(call);
    if (timeline->touched) touch_log_add(timeline, index, moves ? call : NULL);
}

static void copy_begin(Observer *observer, Device *device, bool to_host, int64_t bytes) {
    (void)to_host, (void)bytes;
    Timeline *timeline = (Timeline *)observer;
    if (timeline->device_times) timeline_begin_on_device(timeline, device == timeline->device);
    begin(timeline, -1);
}

static void copy_end(Observer *observer, Device *device, bool to_host, int64_t bytes) {
    (void)device;
    Timeline *timeline = (Timeline *)observer;
    ProfileEvent *event = end(timeline);
    if (!event) return;
    if (timeline->device_times) timeline_end_on_device(timeline, event);
    event->op = NULL; // clears the whole union
    event->to_host = to_host;
    event->value = (double)bytes;
    event->kind = EVENT_COPY;
    event->site = context_current()->site;
    event->phase = (uint8_t)context_current()->phase;
}

static void site_begin(Observer *observer, int site) { begin((Timeline *)observer, site); }

static void site_end(Observer *observer, int site) {
    ProfileEvent *event = end((Timeline *)observer);
    if (!event) return;
    event->op = NULL;
    event->kind = EVENT_SITE;
    event->site = site;
    event->phase = (uint8_t)context_current()->phase;
}

// Adds an event without duration.
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
    if (!GIVEN(timeline)) return;
    if (timeline->count == timeline->capacity) {
        timeline->dropped++;
        return;
    }
    if (timeline->device_times) timeline->device_times[timeline->count] = (EventTimes){0};
    timeline->events[timeline->count++] = event;
}

static void move_down(void *items, int64_t from, int64_t count, size_t size) {
    if (items) memmove(items, (char *)items + (size_t)from * size, (size_t)(count - from) * size);
}

void timeline_drop_oldest(Timeline *timeline, int64_t count) {
    if (!GIVEN(timeline) || count <= 0 || count > timeline->count) return;
    move_down(timeline->events, count, timeline->count, sizeof(ProfileEvent));
    move_down(timeline->costs, count, timeline->count, sizeof(OpCost));
    move_down(timeline->device_times, count, timeline->count, sizeof(EventTimes));
    touch_log_drop_oldest(timeline, count);
    timeline->count -= count;
}

void *timeline_room(int64_t capacity, size_t size) {
    enum { PAGE = 4096 }; // no system has smaller pages
    size_t bytes = (size_t)capacity * size;
    char *block = memory_new(bytes);
    for (size_t i = 0; block && i < bytes; i += PAGE) *(volatile char *)(block + i) = 0;
    return block;
}

// Allocates the stamps now, too: creating one takes longer than using it.
static Status make_room(Timeline *timeline, const TimelineOptions *options) {
    int64_t capacity = options->capacity;
    timeline->events = timeline_room(capacity, sizeof(ProfileEvent));
    if (!timeline->events) return STATUS_OUT_OF_MEMORY;
    if (options->costs) timeline->costs = timeline_room(capacity, sizeof(OpCost));
    if (options->costs && !timeline->costs) return STATUS_OUT_OF_MEMORY;
    if (options->costs && options->machine) {
        timeline->touched = touch_log_new(options->machine, capacity);
        if (!timeline->touched) return STATUS_OUT_OF_MEMORY;
    }
    timeline->capacity = capacity;
    if (!options->device || !device_has_stamps(options->device)) return STATUS_OK;
    bool few = capacity < TIMELINE_MOST_STAMPS / 2;
    timeline->most_stamps = few ? 2 * capacity : TIMELINE_MOST_STAMPS;
    timeline->device_times = timeline_room(capacity, sizeof(EventTimes));
    if (!timeline->device_times) return STATUS_OUT_OF_MEMORY;
    timeline->readings = timeline_room(timeline->most_stamps, sizeof(int64_t));
    if (!timeline->readings) return STATUS_OUT_OF_MEMORY;
    return timeline_has_stamps(timeline->device) ? STATUS_OK : timeline_reserve(timeline);
}

Status timeline_new(Timeline *timeline, TimelineOptions options) {
    if (!GIVEN(timeline)) return STATUS_INVALID_ARGUMENT;
    memset(timeline, 0, sizeof(*timeline));
    timeline->machine = options.machine;
    timeline->device = options.device && options.device->synchronize ? options.device : NULL;
    timeline->observer.op_begin = op_begin;
    timeline->observer.op_end = op_end;
    Status status = make_room(timeline, &options);
    if (status) {
        timeline_free(timeline);
        return status;
    }
    if (options.memory) timeline->observer.storage = storage_changed;
    if (options.sites) {
        timeline->observer.site_begin = site_begin;
        timeline->observer.site_end = site_end;
        timeline->observer.counter = counter;
        timeline->observer.copy_begin = copy_begin;
        timeline->observer.copy_end = copy_end;
    }
    return STATUS_OK;
}

void timeline_free(Timeline *timeline) {
    if (!GIVEN(timeline)) return;
    memory_free(timeline->events);
    memory_free(timeline->costs);
    touch_log_free(timeline->touched);
    memory_free(timeline->device_times);
    memory_free(timeline->readings);
    timeline->events = NULL;
    timeline->costs = NULL;
    timeline->touched = NULL;
    timeline->device_times = NULL;
    timeline->readings = NULL;
    timeline->capacity = timeline->count = 0;
}

void timeline_add_live(Timeline *timeline) {
    if (!GIVEN(timeline)) return;
    const Ledger *ledger = timeline->observer.storage ? context_current()->ledger : NULL;
    for (int c = 0; ledger && c < MEM_COUNT; c++) {
        double live = (double)ledger->live.category[c];
        if (live > 0.0)
            add_value(timeline, (ProfileEvent){.category = c, .value = live, .kind = EVENT_MEMORY});
    }
}

Status timeline_start(Timeline *timeline) {
    if (!GIVEN(timeline)) return STATUS_INVALID_ARGUMENT;
    if (timeline->device_times) {
        if (timeline_has_stamps(timeline->device))
            return error_set(STATUS_STATE,
                             "profiler: another recording here has the time stamps of %s. HINT: "
                             "stop it first",
                             timeline->device->name);
        Status status = timeline_reserve(timeline);
        if (status) return status;
    }
    timeline->depth = 0;
    timeline_add_live(timeline);
    observer_add(&timeline->observer);
    return STATUS_OK;
}

Status timeline_settle_now(Timeline *timeline) {
    if (!GIVEN(timeline)) return STATUS_INVALID_ARGUMENT;
    if (!timeline->device_times) return STATUS_OK;
    Status status = timeline_settle(timeline);
    return status ? status : timeline_reserve(timeline);
}

Status timeline_stop(Timeline *timeline) {
    if (!GIVEN(timeline)) return STATUS_INVALID_ARGUMENT;
    observer_remove(&timeline->observer);
    return timeline->device_times ? timeline_settle(timeline) : STATUS_OK;
}
