// profiler_sums.c -- sums the events of a session by op and phase of each call site. A long session
// is summed a stretch of steps at a time, so that older events can make room. Not here: rows
// (profiler_summary.c).
//
// If steps were kept, only time within them counts: an event that extends beyond (a scope around
// the loop) counts with its part in kept steps, and so do all events nested in it.
#include <string.h>

#include "profiler/session/profiler_parts.h"
#include "tensor/memory.h"

typedef struct KeptStep {
    int64_t begin, end, before; // before: kept nanoseconds before it
} KeptStep;

typedef struct Gathering { // one stretch: the timeline's events from number `from` on
    const Timeline *timeline;
    const OpTraffic *traffic; // parallel to its events; NULL: without ceilings
    int64_t from;
    KeptStep *steps; // in order of time
    int64_t n_steps;
    int next; // start of the search for a group: steps repeat, so it usually matches
    SessionSums *sums;
} Gathering;

// ---- kept time -------------------------------------------------------------------------------
static Status take_steps(Gathering *g) {
    const Timeline *timeline = g->timeline;
    int64_t n = 0;
    for (int64_t i = g->from; i < timeline->count; i++) n += timeline->events[i].kind == EVENT_STEP;
    g->steps = memory_new((size_t)n * sizeof(KeptStep));
    if (!g->steps) return STATUS_OUT_OF_MEMORY;
    int64_t before = g->sums->kept;
    for (int64_t i = g->from; i < timeline->count; i++) {
        const ProfileEvent *event = &timeline->events[i];
        if (event->kind != EVENT_STEP) continue;
        g->steps[g->n_steps++] = (KeptStep){event->begin, event->end, before};
        before += event->end - event->begin;
    }
    return STATUS_OK;
}

// Kept nanoseconds before `time`, which lies after the stretches that are summed.
static int64_t kept_before(const Gathering *g, int64_t time) {
    if (g->sums->steps + g->n_steps == 0) return time; // without steps everything counts whole
    int64_t low = 0, high = g->n_steps; // steps below `low` begin earlier, from `high` on later
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (g->steps[middle].begin < time)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0) return g->sums->kept;
    const KeptStep *step = &g->steps[low - 1];
    return step->before + (time < step->end ? time : step->end) - step->begin;
}

// The sums for an event that was open when earlier stretches were summed; NULL: it began later.
static const OpenSums *earlier_part(const Gathering *g, const ProfileEvent *event) {
    if (event->depth >= TIMELINE_MOST_DEPTH) return NULL;
    const OpenSums *open = &g->sums->open[event->depth];
    return open->known && open->begin == event->begin ? open : NULL;
}

static int64_t kept_of(const Gathering *g, const ProfileEvent *event) {
    const OpenSums *open = earlier_part(g, event);
    return kept_before(g, event->end) - (open ? open->before : kept_before(g, event->begin));
}

// ---- groups ----------------------------------------------------------------------------------
static bool has_extent(const ProfileEvent *event) {
    return event->kind == EVENT_OP || event->kind == EVENT_SITE || event->kind == EVENT_COPY;
}

static bool alike(const ProfileEvent *a, const ProfileEvent *b) {
    if (a->kind != b->kind || a->site != b->site) return false;
    if (a->kind == EVENT_COPY) return a->to_host == b->to_host;
    return a->phase == b->phase && (a->kind == EVENT_SITE || a->op == b->op);
}

static EventSums *group_of(Gathering *g, const ProfileEvent *event) {
    SessionSums *sums = g->sums;
    for (int k = 0; k < sums->n_groups; k++) {
        int at = g->next + k < sums->n_groups ? g->next + k : g->next + k - sums->n_groups;
        if (!alike(&sums->groups[at].like, event)) continue;
        g->next = at + 1 < sums->n_groups ? at + 1 : 0;
        return &sums->groups[at];
    }
    if (sums->n_groups == sums->capacity) {
        int capacity = sums->capacity ? 2 * sums->capacity : 64;
        EventSums *grown = memory_resize(sums->groups, (size_t)sums->n_groups * sizeof(EventSums),
                                         (size_t)capacity * sizeof(EventSums));
        if (!grown) return NULL;
        sums->groups = grown;
        sums->capacity = capacity;
    }
    EventSums *group = &sums->groups[sums->n_groups++];
    *group = (EventSums){.like = *event};
    return group;
}

// Adds the cost of an event's op.
static void spend(const Gathering *g, int64_t at, Spent *to) {
    const OpCost *cost = &g->timeline->costs[at];
    cost_add(&to->cost, *cost);
    if (g->traffic) traffic_add_op(&to->traffic, &g->traffic[at], cost);
}

// Returns the kept time of the stretch's events that lie in `around` and end by `until`, and adds a
// call site's own ops to *own. `end` is the number after its last nested event. Going backwards, an
// event comes before its nested ones, which end after `until`.
static int64_t look_inside(const Gathering *g, const ProfileEvent *around, int64_t end,
                           int64_t until, Spent *own) {
    const ProfileEvent *events = g->timeline->events;
    int64_t nested = 0;
    for (int64_t i = end - 1; i >= g->from && events[i].end > around->begin; i--) {
        const ProfileEvent *event = &events[i];
        if (!has_extent(event) || event->begin < around->begin) continue;
        if (event->kind == EVENT_OP && event->site == around->site) spend(g, i, own);
        if (event->end > until) continue;
        nested += kept_of(g, event);
        until = event->begin;
    }
    return nested;
}

static Status take_event(Gathering *g, int64_t at) {
    const ProfileEvent *event = &g->timeline->events[at];
    int64_t kept = kept_of(g, event);
    if (!has_extent(event) || (kept == 0 && event->end > event->begin)) return STATUS_OK;
    EventSums *group = group_of(g, event);
    if (!group) return STATUS_OUT_OF_MEMORY;
    const OpenSums *open = earlier_part(g, event);
    Spent own = open ? open->own : (Spent){0};
    int64_t self = kept - look_inside(g, event, at, event->end, &own);
    if (open) self -= open->nested;
    if (event->kind == EVENT_OP) {
        own = (Spent){0};
        spend(g, at, &own);
    }
    cost_add(&group->spent.cost, own.cost);
    traffic_add(&group->spent.traffic, &own.traffic);
    group->calls++;
    group->total += kept;
    const EventTimes *times = timeline_device_times(g->timeline, at);
    if (times) group->device += times->end - times->begin;
    group->self += self;
    g->sums->self += self;
    return STATUS_OK;
}

// ---- a stretch -------------------------------------------------------------------------------
// Keeps the stretch's part of each event that is open now. The next deeper open event will be
// counted whole once it ends, so events in that one are not added here.
static void take_open_events(const Gathering *g) {
    const Timeline *timeline = g->timeline;
    for (int at = 0; at < TIMELINE_MOST_DEPTH; at++) {
        OpenSums *open = &g->sums->open[at];
        if (at >= timeline->depth) {
            *open = (OpenSums){0};
            continue;
        }
        int64_t begin = timeline->open[at].begin;
        bool deeper = at + 1 < timeline->depth && at + 1 < TIMELINE_MOST_DEPTH;
        int64_t until = deeper ? timeline->open[at + 1].begin : INT64_MAX;
        ProfileEvent around = {.begin = begin, .site = timeline->open[at].site};
        if (!open->known || open->begin != begin)
            *open = (OpenSums){.known = true, .begin = begin, .before = kept_before(g, begin)};
        open->nested += look_inside(g, &around, timeline->count, until, &open->own);
    }
}

Status session_sums_after(const SessionSums *sums, const Timeline *timeline, SessionSums *after) {
    *after = *sums;
    after->groups = memory_new((size_t)sums->capacity * sizeof(EventSums));
    if (!after->groups) return STATUS_OUT_OF_MEMORY;
    if (sums->n_groups > 0)
        memcpy(after->groups, sums->groups, (size_t)sums->n_groups * sizeof(EventSums));
    Gathering g = {.timeline = timeline,
                   .traffic = timeline_traffic(timeline),
                   .from = sums->events_summed,
                   .sums = after};
    Status status = take_steps(&g);
    for (int64_t i = g.from; i < timeline->count && !status; i++) status = take_event(&g, i);
    if (!status) {
        take_open_events(&g);
        if (g.n_steps > 0) after->kept = kept_before(&g, INT64_MAX);
        after->steps += g.n_steps;
        after->events_summed = timeline->count;
    }
    memory_free(g.steps);
    if (!status) return STATUS_OK;
    memory_free(after->groups);
    *after = (SessionSums){0};
    return status;
}
