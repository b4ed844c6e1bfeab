// profiler_summary.c -- sums the events of a session: a row per op and phase of each call site, and
// per call site. Not here: the table (profiler_print.c).
//
// If steps were kept, only time within them counts: an event that extends beyond (a scope around
// the loop) counts with its part in kept steps, and so do all events nested in it.
#include <stdlib.h>
#include <string.h>

#include "profiler/session/profiler_parts.h"
#include "tensor/clock.h"
#include "tensor/given.h"
#include "tensor/memory.h"

typedef struct KeptStep {
    int64_t begin, end, before; // before: kept nanoseconds before it
} KeptStep;

typedef struct Spent { // totals over ops
    OpCost cost;
    Traffic traffic;
} Spent;

typedef struct Group { // events of one kind, in nanoseconds
    ProfileEvent like;
    int64_t calls, total, self, device;
    Spent spent;
} Group;

typedef struct Gathering {
    const Timeline *timeline;
    const OpTraffic *traffic; // parallel to its events; NULL: without ceilings
    KeptStep *steps;          // in order of time; none: everything counts whole
    int64_t n_steps;
    Group *groups;
    int n_groups, capacity;
    int next;     // start of the search: steps repeat, so it usually matches
    int64_t self; // sum over all groups
} Gathering;

// ---- kept time -------------------------------------------------------------------------------
static Status take_steps(Gathering *g) {
    const Timeline *timeline = g->timeline;
    int64_t n = 0;
    for (int64_t i = 0; i < timeline->count; i++) n += timeline->events[i].kind == EVENT_STEP;
    g->steps = memory_new((size_t)n * sizeof(KeptStep));
    if (!g->steps) return STATUS_OUT_OF_MEMORY;
    int64_t before = 0;
    for (int64_t i = 0; i < timeline->count; i++) {
        const ProfileEvent *event = &timeline->events[i];
        if (event->kind != EVENT_STEP) continue;
        g->steps[g->n_steps++] = (KeptStep){event->begin, event->end, before};
        before += event->end - event->begin;
    }
    return STATUS_OK;
}

// Kept nanoseconds before `time`.
static int64_t kept_before(const Gathering *g, int64_t time) {
    if (g->n_steps == 0) return time;
    int64_t low = 0, high = g->n_steps; // steps below `low` begin earlier, from `high` on later
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (g->steps[middle].begin < time)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0) return 0;
    const KeptStep *step = &g->steps[low - 1];
    return step->before + (time < step->end ? time : step->end) - step->begin;
}

static int64_t kept_of(const Gathering *g, const ProfileEvent *event) {
    return kept_before(g, event->end) - kept_before(g, event->begin);
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

static Group *group_of(Gathering *g, const ProfileEvent *event) {
    for (int k = 0; k < g->n_groups; k++) {
        int at = g->next + k < g->n_groups ? g->next + k : g->next + k - g->n_groups;
        if (!alike(&g->groups[at].like, event)) continue;
        g->next = at + 1 < g->n_groups ? at + 1 : 0;
        return &g->groups[at];
    }
    if (g->n_groups == g->capacity) {
        int capacity = g->capacity ? 2 * g->capacity : 64;
        Group *grown = memory_resize(g->groups, (size_t)g->n_groups * sizeof(Group),
                                     (size_t)capacity * sizeof(Group));
        if (!grown) return NULL;
        g->groups = grown;
        g->capacity = capacity;
    }
    Group *group = &g->groups[g->n_groups++];
    *group = (Group){.like = *event};
    return group;
}

// Adds the cost of an event's op.
static void spend(const Gathering *g, int64_t at, Spent *to) {
    const OpCost *cost = &g->timeline->costs[at];
    cost_add(&to->cost, *cost);
    if (g->traffic) traffic_add_op(&to->traffic, &g->traffic[at], cost);
}

// Returns the kept time of events nested in the event at `outer`, and adds a call site's own ops to
// *own. Going backwards, an event comes before its nested ones, which end after `from`.
static int64_t look_inside(const Gathering *g, int64_t outer, Spent *own) {
    const ProfileEvent *events = g->timeline->events, *around = &events[outer];
    int64_t nested = 0, from = around->end;
    for (int64_t i = outer - 1; i >= 0 && events[i].end > around->begin; i--) {
        const ProfileEvent *event = &events[i];
        if (!has_extent(event) || event->begin < around->begin) continue;
        if (event->kind == EVENT_OP && event->site == around->site) spend(g, i, own);
        if (event->end > from) continue;
        nested += kept_of(g, event);
        from = event->begin;
    }
    return nested;
}

static Status take_event(Gathering *g, int64_t at) {
    const ProfileEvent *event = &g->timeline->events[at];
    int64_t kept = kept_of(g, event);
    if (!has_extent(event) || (kept == 0 && event->end > event->begin)) return STATUS_OK;
    Group *group = group_of(g, event);
    if (!group) return STATUS_OUT_OF_MEMORY;
    Spent own = {0};
    int64_t self = kept - look_inside(g, at, &own);
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
    g->self += self;
    return STATUS_OK;
}

// ---- rows ------------------------------------------------------------------------------------
static ProfilerRow row_of(const Context *context, const Group *group) {
    const ProfileEvent *like = &group->like;
    bool op = like->kind == EVENT_OP, site = like->kind == EVENT_SITE;
    ProfilerRow row = {.kind = (EventKind)like->kind,
                       .phase = op || site ? (Phase)like->phase : PHASE_FORWARD,
                       .calls = group->calls,
                       .seconds = 1e-9 * (double)group->total,
                       .self_seconds = 1e-9 * (double)group->self,
                       .device_seconds = 1e-9 * (double)group->device,
                       .cost = group->spent.cost,
                       .traffic = group->spent.traffic};
    site_path(context, like->site, row.path, sizeof(row.path));
    const char *name = op                         ? like->op->name
                       : like->kind == EVENT_SITE ? context->sites[like->site].type
                       : like->to_host            ? "copy to host"
                                                  : "copy to device";
    snprintf(row.name, sizeof(row.name), "%s", name);
    return row;
}

static int by_identity(const void *left, const void *right) {
    const ProfilerRow *a = left, *b = right;
    int order = strcmp(a->path, b->path);
    if (order == 0) order = strcmp(a->name, b->name);
    if (order == 0) order = (int)a->kind - (int)b->kind;
    return order ? order : (int)a->phase - (int)b->phase;
}

static int by_self_seconds(const void *left, const void *right) {
    const ProfilerRow *a = left, *b = right;
    if (a->self_seconds != b->self_seconds) return a->self_seconds < b->self_seconds ? 1 : -1;
    return by_identity(left, right);
}

static void add_row(ProfilerRow *to, const ProfilerRow *from) {
    to->calls += from->calls;
    to->seconds += from->seconds;
    to->self_seconds += from->self_seconds;
    to->device_seconds += from->device_seconds;
    cost_add(&to->cost, from->cost);
    traffic_add(&to->traffic, &from->traffic);
}

RooflineInput profiler_row_input(const ProfilerRow *row) {
    double seconds = row->device_seconds > 0.0 ? row->device_seconds : row->self_seconds;
    return roofline_input(row->cost, &row->traffic, row->calls, seconds);
}

static void judge(const Machine *machine, ProfilerRow *row) {
    if (!machine || row->kind != EVENT_OP) return;
    RooflineInput input = profiler_row_input(row);
    row->roofline = roofline_judge(machine, &input);
}

// Merges call sites with one path, as after a model is rebuilt.
static Status make_rows(const Gathering *g, const Context *context, ProfilerSummary *summary) {
    ProfilerRow *rows = memory_new((size_t)g->n_groups * sizeof(ProfilerRow));
    if (!rows) return STATUS_OUT_OF_MEMORY;
    for (int i = 0; i < g->n_groups; i++) rows[i] = row_of(context, &g->groups[i]);
    qsort(rows, (size_t)g->n_groups, sizeof(ProfilerRow), by_identity);
    int n = 0;
    for (int i = 0; i < g->n_groups; i++) {
        if (n > 0 && by_identity(&rows[n - 1], &rows[i]) == 0)
            add_row(&rows[n - 1], &rows[i]);
        else
            rows[n++] = rows[i];
    }
    for (int i = 0; i < n; i++) judge(g->timeline->machine, &rows[i]);
    qsort(rows, (size_t)n, sizeof(ProfilerRow), by_self_seconds);
    summary->rows = rows;
    summary->n_rows = n;
    return STATUS_OK;
}

// ---- the whole -------------------------------------------------------------------------------
// Without steps: from start to stop, or until now.
static int64_t recorded_nanoseconds(const Profiler *profiler) {
    bool runs = profiler->started && profiler->fate == STEP_KEPT;
    return profiler->recorded_nanoseconds + (runs ? clock_nanoseconds() - profiler->begin : 0);
}

Status profiler_summarise(const Profiler *profiler, ProfilerSummary *summary) {
    if (!GIVEN(summary)) return STATUS_INVALID_ARGUMENT;
    *summary = (ProfilerSummary){0};
    if (!profiler) return error_set(STATUS_INVALID_ARGUMENT, "profiler_summarise: no profiler");
    if (profiler->timeline.count > 0 && !profiler->reader.context)
        return error_set(STATUS_STATE,
                         "profiler_summarise: the context in which it ran is gone, and with it the "
                         "names of its layers. HINT: summarise before it is freed");
    Gathering g = {.timeline = &profiler->timeline,
                   .traffic = timeline_traffic(&profiler->timeline)};
    Status status = take_steps(&g);
    for (int64_t i = 0; i < profiler->timeline.count && !status; i++) status = take_event(&g, i);
    if (!status) status = make_rows(&g, profiler->reader.context, summary);
    int64_t kept = g.n_steps > 0 ? kept_before(&g, INT64_MAX) : recorded_nanoseconds(profiler);
    summary->steps = g.n_steps;
    summary->events = profiler->timeline.count;
    summary->dropped = profiler->timeline.dropped;
    summary->seconds = 1e-9 * (double)kept;
    summary->unattributed_seconds = 1e-9 * (double)(kept - g.self);
    memory_free(g.steps);
    memory_free(g.groups);
    return status;
}

void profiler_summary_free(ProfilerSummary *summary) {
    if (!summary) return;
    memory_free(summary->rows);
    *summary = (ProfilerSummary){0};
}

Status profiler_find(const Profiler *profiler, const char *path, ProfilerRow *row) {
    if (!GIVEN(row)) return STATUS_INVALID_ARGUMENT;
    ProfilerSummary summary;
    *row = (ProfilerRow){.kind = EVENT_SITE};
    if (!path) return error_set(STATUS_INVALID_ARGUMENT, "profiler_find: the path is NULL");
    Status status = profiler_summarise(profiler, &summary);
    snprintf(row->path, sizeof(row->path), "%s", path);
    for (int i = 0; i < summary.n_rows && !status; i++) {
        const ProfilerRow *one = &summary.rows[i];
        bool found =
            one->kind == EVENT_SITE && one->phase == PHASE_FORWARD && strcmp(one->path, path) == 0;
        if (found && one->seconds > row->seconds) *row = *one; // if nested, the outer one
    }
    profiler_summary_free(&summary);
    return status;
}
