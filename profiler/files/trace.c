// trace.c -- sorts events, chooses their tracks and arrows, and writes the file.
// Not here: one event (trace_events.c), recording (timeline.c), escaping (json_writer.c).
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/files/trace_parts.h"
#include "tensor/given.h"
#include "tensor/memory.h"

// ---- order -----------------------------------------------------------------------------------
static bool is_slice(const ProfileEvent *event) {
    return event->kind == EVENT_OP || event->kind == EVENT_SITE || event->kind == EVENT_STEP ||
           event->kind == EVENT_COPY;
}

static bool can_be_written(const ProfileEvent *event) {
    return is_slice(event) || isfinite(event->value); // JSON has no NaN
}

// Order: earlier begin first, then the enclosing one. Of two with equal extent the outer one ended
// later; moments keep their order, and a launch comes before its work.
static int compare_entries(const void *left, const void *right) {
    const TraceEntry *a = left, *b = right;
    if (a->begin != b->begin) return a->begin < b->begin ? -1 : 1;
    if (a->end != b->end) return a->end > b->end ? -1 : 1;
    if (a->event == b->event) return a->on_device ? 1 : -1;
    bool moment = a->begin == a->end;
    return (a->event < b->event) == moment ? -1 : 1;
}

// False if a host slice would cross the end of the one around it.
static bool slices_nest(const Trace *trace) {
    int64_t ends[TIMELINE_MOST_DEPTH + 1]; // ends of open slices: recorded depth, and one step
    int depth = 0;
    for (int64_t i = 0; i < trace->count; i++) {
        const TraceEntry *entry = &trace->entries[i];
        if (!is_slice(entry->event) || entry->on_device) continue;
        while (depth > 0 && ends[depth - 1] <= entry->begin) depth--;
        if (depth > TIMELINE_MOST_DEPTH || (depth > 0 && entry->end > ends[depth - 1]))
            return false;
        ends[depth++] = entry->end;
    }
    return true;
}

// An idle device is ready for an op before its launch begins: its work then starts no earlier than
// the launch.
static TraceEntry device_entry(const ProfileEvent *event, const EventTimes *times) {
    bool waited = times->begin < event->begin && event->begin < times->end;
    return (TraceEntry){.event = event,
                        .begin = waited ? event->begin : times->begin,
                        .end = times->end,
                        .on_device = true};
}

static Status arrange_entries(Trace *trace, int64_t most_events) {
    const Timeline *timeline = trace->timeline;
    size_t sides = timeline->device_times ? 2 : 1;
    trace->entries = memory_new((sides * (size_t)timeline->count + 1) * sizeof(TraceEntry));
    if (!trace->entries) return STATUS_OUT_OF_MEMORY;
    for (int64_t i = 0; i < timeline->count; i++) {
        const ProfileEvent *event = &timeline->events[i];
        const EventTimes *times = timeline_device_times(timeline, i);
        if (!can_be_written(event)) {
            trace->left_out++;
            continue;
        }
        trace->entries[trace->count++] =
            (TraceEntry){.event = event, .begin = event->begin, .end = event->end};
        if (times) trace->entries[trace->count++] = device_entry(event, times);
        trace->has_device = trace->has_device || times;
    }
    qsort(trace->entries, (size_t)trace->count, sizeof(TraceEntry), compare_entries);
    if (trace->count > 0) trace->base = trace->entries[0].begin;
    if (most_events > 0 && trace->count > most_events) {
        trace->left_out += trace->count - most_events;
        trace->count = most_events;
    }
    trace->steps_apart = !slices_nest(trace);
    return STATUS_OK;
}

// ---- arrows ----------------------------------------------------------------------------------
static bool is_backward(const ProfileEvent *op) {
    return op->phase >= PHASE_BACKWARD && op->phase <= PHASE_BACKWARD_WEIGHT;
}

// last[site]: 1 + index of the site's last forward op not yet followed by a backward op; 0: none.
static void find_arrows(Trace *trace, int64_t *last) {
    int64_t arrows = 0;
    for (int64_t i = 0; i < trace->count; i++) {
        const ProfileEvent *event = trace->entries[i].event;
        if (event->kind != EVENT_OP || trace->entries[i].on_device || event->site < 0 ||
            event->site >= trace->context->n_sites)
            continue;
        int64_t *from = &last[event->site];
        if (event->phase == PHASE_FORWARD) *from = i + 1;
        if (!is_backward(event) || *from == 0) continue;
        trace->entries[*from - 1].arrow = trace->entries[i].arrow = ++arrows;
        *from = 0;
    }
}

// sides[event]: number of its two entries that are written. Only pairs get a number.
static void find_correlations(Trace *trace, int64_t *sides) {
    const ProfileEvent *first = trace->timeline->events;
    for (int64_t i = 0; i < trace->count; i++) sides[trace->entries[i].event - first]++;
    for (int64_t i = 0; i < trace->count; i++) {
        int64_t index = trace->entries[i].event - first;
        if (sides[index] == 2) trace->entries[i].correlation = index + 1;
    }
}

static Status arrange_arrows(Trace *trace) {
    int64_t *last = memory_new((size_t)(trace->context->n_sites + 1) * sizeof(*last));
    int64_t *sides = memory_new((size_t)(trace->timeline->count + 1) * sizeof(*sides));
    bool complete = last && sides;
    if (complete) find_arrows(trace, last);
    if (complete) find_correlations(trace, sides);
    memory_free(last);
    memory_free(sides);
    return complete ? STATUS_OK : STATUS_OUT_OF_MEMORY;
}

// ---- the file --------------------------------------------------------------------------------
// HolisticTraceAnalysis reads lines up to the first one with a rank, so that line comes first.
static void write_head(Trace *trace, const TraceOptions *options) {
    const Timeline *timeline = trace->timeline;
    JsonWriter *json = trace->json;
    json_writer_begin_record(json_writer_key(json, "distributedInfo"));
    member_integer(json, "rank", 0);
    json_writer_end_object(json);
    member_text(json, "displayTimeUnit", "ns");
    json_writer_begin_object(json_writer_key(json, "otherData"));
    member_integer(json, "dropped_events", timeline->dropped + trace->left_out);
    member_text(json, "clock", "CLOCK_MONOTONIC");
    member_integer(json, "base_nanoseconds", trace->base);
    for (int i = 0; i < options->n_notes; i++)
        member_text(json, options->notes[2 * i], options->notes[2 * i + 1]);
    json_writer_end_object(json);
}

static Status write_file(Trace *trace, const TraceOptions *options, const char *path) {
    trace->json = json_file_open(path);
    if (!trace->json) return error_status();
    json_writer_begin_object(trace->json);
    write_head(trace, options);
    json_writer_begin_array(json_writer_key(trace->json, "traceEvents"));
    trace_write_names(trace, options->process);
    for (int64_t i = 0; i < trace->count; i++) trace_write_entry(trace, &trace->entries[i]);
    json_writer_end_array(trace->json);
    json_writer_end_object(trace->json);
    return json_writer_close(trace->json);
}

Status trace_write(const Timeline *timeline, TraceOptions options, const char *path) {
    if (!GIVEN(timeline)) return STATUS_INVALID_ARGUMENT;
    Trace trace = {.timeline = timeline, .context = context_current()};
    Status status = arrange_entries(&trace, options.most_events);
    if (!status) status = arrange_arrows(&trace);
    if (!status) status = write_file(&trace, &options, path);
    memory_free(trace.entries);
    return status;
}
