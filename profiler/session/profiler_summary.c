// profiler_summary.c -- the rows of a session's summary, and the row of one path. Not here: how
// events are summed (profiler_sums.c), the table (profiler_print.c).
#include <stdlib.h>
#include <string.h>

#include "profiler/session/profiler_parts.h"
#include "tensor/clock.h"
#include "tensor/given.h"
#include "tensor/memory.h"

// ---- rows ------------------------------------------------------------------------------------
static ProfilerRow row_of(const Context *context, const EventSums *group) {
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
static Status make_rows(const SessionSums *sums, const Profiler *profiler,
                        ProfilerSummary *summary) {
    ProfilerRow *rows = memory_new((size_t)sums->n_groups * sizeof(ProfilerRow));
    if (!rows) return STATUS_OUT_OF_MEMORY;
    for (int i = 0; i < sums->n_groups; i++)
        rows[i] = row_of(profiler->reader.context, &sums->groups[i]);
    qsort(rows, (size_t)sums->n_groups, sizeof(ProfilerRow), by_identity);
    int n = 0;
    for (int i = 0; i < sums->n_groups; i++) {
        if (n > 0 && by_identity(&rows[n - 1], &rows[i]) == 0)
            add_row(&rows[n - 1], &rows[i]);
        else
            rows[n++] = rows[i];
    }
    for (int i = 0; i < n; i++) judge(profiler->timeline.machine, &rows[i]);
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
    if (profiler_events(profiler) > 0 && !profiler->reader.context)
        return error_set(STATUS_STATE,
                         "profiler_summarise: the context in which it ran is gone, and with it the "
                         "names of its layers. HINT: summarise before it is freed");
    SessionSums sums;
    Status status = session_sums_after(&profiler->sums, &profiler->timeline, &sums);
    if (status) return status;
    status = make_rows(&sums, profiler, summary);
    int64_t kept = sums.steps > 0 ? sums.kept : recorded_nanoseconds(profiler);
    summary->steps = sums.steps;
    summary->events = profiler_events(profiler);
    summary->only_in_rows = sums.events_gone;
    summary->dropped = profiler->timeline.dropped;
    summary->seconds = 1e-9 * (double)kept;
    summary->unattributed_seconds = 1e-9 * (double)(kept - sums.self);
    memory_free(sums.groups);
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
