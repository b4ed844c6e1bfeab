// trace.c -- puts events in order, decides their tracks and arrows, and writes them.
// Not here: recording (timeline.c), files and escaping (json_writer.c).
#include "profiler/files/trace.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/files/json_members.h"
#include "tensor/memory.h"

enum { PROCESS = 1, MAIN_TRACK = 1, STEP_TRACK = 2, PATH_ROOM = 512 };

typedef struct Trace {
    const Timeline *timeline;
    const Context *context;
    JsonWriter *json;
    const ProfileEvent **events; // by beginning, outer before inner
    int64_t *arrows;             // beside events: the number of what begins or ends there; 0: none
    int64_t count;               // of both
    int64_t base;                // nanoseconds at ts 0
    bool steps_apart;            // on a track of their own
} Trace;

// ---- order -----------------------------------------------------------------------------------
static bool is_slice(const ProfileEvent *event) {
    return event->kind == EVENT_OP || event->kind == EVENT_SITE || event->kind == EVENT_STEP;
}

static bool can_be_written(const ProfileEvent *event) {
    return is_slice(event) || isfinite(event->value); // JSON has no NaN
}

// What began earlier, then what encloses. Of two with the same extent the outer one ended later;
// moments keep their order.
static int compare_events(const void *left, const void *right) {
    const ProfileEvent *a = *(const ProfileEvent *const *)left;
    const ProfileEvent *b = *(const ProfileEvent *const *)right;
    if (a->begin != b->begin) return a->begin < b->begin ? -1 : 1;
    if (a->end != b->end) return a->end > b->end ? -1 : 1;
    bool moment = a->begin == a->end;
    return (a < b) == moment ? -1 : 1;
}

// False where a slice would cross the end of the one around it.
static bool slices_nest(const Trace *trace) {
    int64_t ends[TIMELINE_MOST_DEPTH + 1]; // of what is open: no more are recorded, and one step
    int depth = 0;
    for (int64_t i = 0; i < trace->count; i++) {
        const ProfileEvent *event = trace->events[i];
        if (!is_slice(event)) continue;
        while (depth > 0 && ends[depth - 1] <= event->begin) depth--;
        if (depth > TIMELINE_MOST_DEPTH || (depth > 0 && event->end > ends[depth - 1]))
            return false;
        ends[depth++] = event->end;
    }
    return true;
}

static Status arrange_events(Trace *trace, int64_t most_events) {
    const Timeline *timeline = trace->timeline;
    trace->events = memory_new((size_t)(timeline->count + 1) * sizeof(trace->events[0]));
    if (!trace->events) return STATUS_OUT_OF_MEMORY;
    for (int64_t i = 0; i < timeline->count; i++)
        if (can_be_written(&timeline->events[i]))
            trace->events[trace->count++] = &timeline->events[i];
    qsort(trace->events, (size_t)trace->count, sizeof(trace->events[0]), compare_events);
    if (trace->count > 0) trace->base = trace->events[0]->begin;
    if (most_events > 0 && trace->count > most_events) trace->count = most_events;
    trace->steps_apart = !slices_nest(trace);
    return STATUS_OK;
}

// ---- arrows ----------------------------------------------------------------------------------
static bool is_backward(const ProfileEvent *op) {
    return op->phase >= PHASE_BACKWARD && op->phase <= PHASE_BACKWARD_WEIGHT;
}

// last[site]: 1 + the index of its last forward op that no backward op has followed; 0: none.
static void find_arrows(Trace *trace, int64_t *last) {
    int64_t arrows = 0;
    for (int64_t i = 0; i < trace->count; i++) {
        const ProfileEvent *event = trace->events[i];
        if (event->kind != EVENT_OP || event->site < 0 || event->site >= trace->context->n_sites)
            continue;
        int64_t *from = &last[event->site];
        if (event->phase == PHASE_FORWARD) *from = i + 1;
        if (!is_backward(event) || *from == 0) continue;
        trace->arrows[*from - 1] = trace->arrows[i] = ++arrows;
        *from = 0;
    }
}

static Status arrange_arrows(Trace *trace) {
    trace->arrows = memory_new((size_t)(trace->count + 1) * sizeof(trace->arrows[0]));
    int64_t *last = memory_new((size_t)(trace->context->n_sites + 1) * sizeof(*last));
    bool complete = trace->arrows && last;
    if (complete) find_arrows(trace, last);
    memory_free(last);
    return complete ? STATUS_OK : STATUS_OUT_OF_MEMORY;
}

// ---- writing ---------------------------------------------------------------------------------
// Opens a member of traceEvents. Each has a ts: speedscope refuses a file where one has none.
static JsonWriter *begin_event(Trace *trace, const char *phase, const char *name, int track,
                               int64_t begin) {
    JsonWriter *json = trace->json;
    json_writer_begin_record(json);
    member_text(json, "ph", phase);
    member_text(json, "name", name);
    member_integer(json, "pid", PROCESS);
    member_integer(json, "tid", track);
    json_writer_decimal(json_writer_key(json, "ts"), begin - trace->base, 3);
    return json;
}

static JsonWriter *begin_arguments(JsonWriter *json) {
    json_writer_begin_record(json_writer_key(json, "args"));
    return json;
}

static void end_event(JsonWriter *json) { // and its arguments
    json_writer_end_object(json);
    json_writer_end_object(json);
}

// Opens a slice up to its arguments.
static JsonWriter *begin_slice(Trace *trace, const ProfileEvent *event, const char *category,
                               const char *name) {
    bool apart = event->kind == EVENT_STEP && trace->steps_apart;
    JsonWriter *json = begin_event(trace, "X", name, apart ? STEP_TRACK : MAIN_TRACK, event->begin);
    json_writer_decimal(json_writer_key(json, "dur"), event->end - event->begin, 3);
    member_text(json, "cat", category);
    return begin_arguments(json);
}

static void write_place(Trace *trace, const ProfileEvent *event) {
    char path[PATH_ROOM];
    member_text(trace->json, "path", site_path(trace->context, event->site, path, sizeof path));
    member_text(trace->json, "phase", phase_name((Phase)event->phase));
}

static void write_op(Trace *trace, const ProfileEvent *event) {
    const Timeline *timeline = trace->timeline;
    JsonWriter *json = begin_slice(trace, event, "cpu_op", event->op->name);
    write_place(trace, event);
    bool known = event->op->cost || event->op->flags & OP_VIEW; // unknown is never 0
    if (timeline->costs && known) {
        OpCost cost = timeline->costs[event - timeline->events].cost;
        member_count(json, "flops", 2 * cost.macs);
        member_count(json, "total_flops", op_cost_total_flops(cost));
        member_count(json, "bytes_read", cost.bytes_read);
        member_count(json, "bytes_written", cost.bytes_written);
    }
    end_event(json);
}

static void write_site(Trace *trace, const ProfileEvent *event) {
    static const Site unknown = {.name = "", .type = "layer"}; // of another context
    bool known = event->site >= 0 && event->site < trace->context->n_sites;
    const Site *site = known ? &trace->context->sites[event->site] : &unknown;
    bool scope = strcmp(site->type, "scope") == 0;
    JsonWriter *json = begin_slice(trace, event, scope ? "user_annotation" : "layer",
                                   site->name[0] ? site->name : site->type);
    write_place(trace, event);
    member_text(json, "type", site->type);
    end_event(json);
}

static void write_step(Trace *trace, const ProfileEvent *event) {
    char name[48];
    snprintf(name, sizeof name, "ProfilerStep#%" PRId64, event->step);
    end_event(begin_slice(trace, event, "user_annotation", name));
}

static void write_counter(Trace *trace, const ProfileEvent *event) {
    JsonWriter *json =
        begin_arguments(begin_event(trace, "C", event->counter, MAIN_TRACK, event->begin));
    member_real(json, "value", event->value);
    end_event(json);
}

static void write_memory(Trace *trace, const ProfileEvent *event) {
    char name[48];
    snprintf(name, sizeof name, "%s memory", memory_category_name((MemoryCategory)event->category));
    JsonWriter *json = begin_arguments(begin_event(trace, "C", name, MAIN_TRACK, event->begin));
    member_integer(json, "bytes", (int64_t)event->value);
    end_event(json);
}

// An end of an arrow lies in the slice that was written last: its beginning is inside whatever
// the slice's length, and is where HolisticTraceAnalysis looks for it.
static void write_arrow(Trace *trace, const ProfileEvent *event, int64_t number) {
    bool from = event->phase == PHASE_FORWARD;
    JsonWriter *json = begin_event(trace, from ? "s" : "f", "fwdbwd", MAIN_TRACK, event->begin);
    member_text(json, "cat", "fwdbwd");
    member_integer(json, "id", number);
    if (!from) member_text(json, "bp", "e"); // binds to the enclosing slice, not to the next
    json_writer_end_object(json);
}

// ---- the file --------------------------------------------------------------------------------
static JsonWriter *begin_name(Trace *trace, const char *what, int track) {
    return begin_arguments(begin_event(trace, "M", what, track, trace->base));
}

static void write_track(Trace *trace, int track, const char *name, int place) {
    JsonWriter *json = begin_name(trace, "thread_name", track);
    member_text(json, "name", name);
    end_event(json);
    begin_name(trace, "thread_sort_index", track);
    member_integer(json, "sort_index", place);
    end_event(json);
}

static void write_names(Trace *trace, const char *process) {
    JsonWriter *json = begin_name(trace, "process_name", MAIN_TRACK);
    member_text(json, "name", process ? process : "ridgepoint");
    end_event(json);
    begin_name(trace, "process_sort_index", MAIN_TRACK);
    member_integer(json, "sort_index", 0);
    end_event(json);
    if (trace->steps_apart) write_track(trace, STEP_TRACK, "steps", 0);
    write_track(trace, MAIN_TRACK, "layers and ops", 1);
}

static void write_events(Trace *trace, const char *process) {
    static void (*const writers[])(Trace *, const ProfileEvent *) = {
        [EVENT_OP] = write_op,           [EVENT_SITE] = write_site,     [EVENT_STEP] = write_step,
        [EVENT_COUNTER] = write_counter, [EVENT_MEMORY] = write_memory,
    };
    json_writer_begin_array(json_writer_key(trace->json, "traceEvents"));
    write_names(trace, process);
    for (int64_t i = 0; i < trace->count; i++) {
        writers[trace->events[i]->kind](trace, trace->events[i]);
        if (trace->arrows[i]) write_arrow(trace, trace->events[i], trace->arrows[i]);
    }
    json_writer_end_array(trace->json);
}

// HolisticTraceAnalysis reads lines up to the first with a rank in it, so that one comes first.
static void write_head(Trace *trace, const TraceOptions *options) {
    const Timeline *timeline = trace->timeline;
    JsonWriter *json = trace->json;
    json_writer_begin_record(json_writer_key(json, "distributedInfo"));
    member_integer(json, "rank", 0);
    json_writer_end_object(json);
    member_text(json, "displayTimeUnit", "ns");
    json_writer_begin_object(json_writer_key(json, "otherData"));
    member_integer(json, "dropped_events", timeline->dropped + timeline->count - trace->count);
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
    write_events(trace, options->process);
    json_writer_end_object(trace->json);
    return json_writer_close(trace->json);
}

Status trace_write(const Timeline *timeline, TraceOptions options, const char *path) {
    Trace trace = {.timeline = timeline, .context = context_current()};
    Status status = arrange_events(&trace, options.most_events);
    if (!status) status = arrange_arrows(&trace);
    if (!status) status = write_file(&trace, &options, path);
    memory_free(trace.events);
    memory_free(trace.arrows);
    return status;
}
