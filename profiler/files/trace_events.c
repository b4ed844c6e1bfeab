// trace_events.c -- writes each kind of event in a trace, and the names of its tracks. Device
// events use the names and categories of PyTorch's traces, which other tools know.
#include <inttypes.h>
#include <string.h>

#include "profiler/files/trace_parts.h"

enum { PATH_ROOM = 512 };

typedef struct Track {
    int process, number;
} Track;
static const Track main_track = {HOST_PROCESS, MAIN_TRACK}, step_track = {HOST_PROCESS, STEP_TRACK},
                   stream_track = {DEVICE_PROCESS, STREAM_TRACK};

// Opens a member of traceEvents. Each has a ts, because speedscope refuses files that lack one.
static JsonWriter *begin_event(Trace *trace, const char *phase, const char *name, Track track,
                               int64_t begin) {
    JsonWriter *json = trace->json;
    json_writer_begin_record(json);
    member_text(json, "ph", phase);
    member_text(json, "name", name);
    member_integer(json, "pid", track.process);
    member_integer(json, "tid", track.number);
    json_writer_decimal(json_writer_key(json, "ts"), begin - trace->base, 3);
    return json;
}

static JsonWriter *begin_arguments(JsonWriter *json) {
    json_writer_begin_record(json_writer_key(json, "args"));
    return json;
}

static void end_event(JsonWriter *json) { // also ends its arguments
    json_writer_end_object(json);
    json_writer_end_object(json);
}

// Opens a slice up to its arguments.
static JsonWriter *begin_slice(Trace *trace, const TraceEntry *entry, const char *category,
                               const char *name) {
    bool apart = entry->event->kind == EVENT_STEP && trace->steps_apart;
    Track track = entry->on_device ? stream_track : apart ? step_track : main_track;
    JsonWriter *json = begin_event(trace, "X", name, track, entry->begin);
    json_writer_decimal(json_writer_key(json, "dur"), entry->end - entry->begin, 3);
    member_text(json, "cat", category);
    return begin_arguments(json);
}

static void write_place(Trace *trace, const ProfileEvent *event) {
    char path[PATH_ROOM];
    member_text(trace->json, "path", site_path(trace->context, event->site, path, sizeof path));
    member_text(trace->json, "phase", phase_name((Phase)event->phase));
}

// Writes the stream, and the number shared with the launch. Tools take -1 as the host's stream.
static void write_stream(JsonWriter *json, const TraceEntry *entry) {
    if (entry->on_device) {
        member_integer(json, "device", 0);
        member_integer(json, "stream", STREAM_TRACK);
    }
    if (entry->correlation) member_integer(json, "correlation", entry->correlation);
}

static void write_op(Trace *trace, const TraceEntry *entry) {
    const Timeline *timeline = trace->timeline;
    const ProfileEvent *event = entry->event;
    JsonWriter *json =
        begin_slice(trace, entry, entry->on_device ? "kernel" : "cpu_op", event->op->name);
    write_place(trace, event);
    bool known = op_is_counted(event->op, &(OpParams){0}); // an unknown cost is never 0
    if (timeline->costs && known && !entry->on_device) {
        OpCost cost = timeline->costs[event - timeline->events];
        member_count(json, "flops", 2 * cost.macs);
        member_count(json, "total_flops", op_cost_total_flops(cost));
        member_count(json, "bytes_read", cost.bytes_read);
        member_count(json, "bytes_written", cost.bytes_written);
    }
    if (entry->on_device) write_stream(json, entry);
    end_event(json);
}

static void write_copy(Trace *trace, const TraceEntry *entry) {
    static const char *const names[2][2] = {{"copy to device", "Memcpy HtoD"},
                                            {"copy to host", "Memcpy DtoH"}};
    const ProfileEvent *event = entry->event;
    JsonWriter *json = begin_slice(trace, entry, entry->on_device ? "gpu_memcpy" : "cpu_op",
                                   names[event->to_host][entry->on_device]);
    write_place(trace, event);
    member_integer(json, "bytes", (int64_t)event->value);
    if (entry->on_device) write_stream(json, entry);
    end_event(json);
}

static void write_site(Trace *trace, const TraceEntry *entry) {
    static const Site unknown = {.name = "", .type = "layer"}; // site of another context
    const ProfileEvent *event = entry->event;
    bool known = event->site >= 0 && event->site < trace->context->n_sites;
    const Site *site = known ? &trace->context->sites[event->site] : &unknown;
    bool scope = strcmp(site->type, "scope") == 0;
    JsonWriter *json = begin_slice(trace, entry, scope ? "user_annotation" : "layer",
                                   site->name[0] ? site->name : site->type);
    write_place(trace, event);
    member_text(json, "type", site->type);
    end_event(json);
}

static void write_step(Trace *trace, const TraceEntry *entry) {
    char name[48];
    snprintf(name, sizeof name, "ProfilerStep#%" PRId64, entry->event->step);
    end_event(begin_slice(trace, entry, "user_annotation", name));
}

static void write_counter(Trace *trace, const TraceEntry *entry) {
    const ProfileEvent *event = entry->event;
    JsonWriter *json =
        begin_arguments(begin_event(trace, "C", event->counter, main_track, event->begin));
    member_real(json, "value", event->value);
    end_event(json);
}

static void write_memory(Trace *trace, const TraceEntry *entry) {
    const ProfileEvent *event = entry->event;
    char name[48];
    snprintf(name, sizeof name, "%s memory", memory_category_name((MemoryCategory)event->category));
    JsonWriter *json = begin_arguments(begin_event(trace, "C", name, main_track, event->begin));
    member_integer(json, "bytes", (int64_t)event->value);
    end_event(json);
}

// An arrow's end lies at the beginning of the slice written last: that is inside a slice of any
// length, and where HolisticTraceAnalysis looks for it.
static void write_arrow(Trace *trace, const TraceEntry *entry, const char *kind, bool from,
                        int64_t number) {
    Track track = entry->on_device ? stream_track : main_track;
    JsonWriter *json = begin_event(trace, from ? "s" : "f", kind, track, entry->begin);
    member_text(json, "cat", kind);
    member_integer(json, "id", number);
    if (!from) member_text(json, "bp", "e"); // binds to the enclosing slice, not to the next
    json_writer_end_object(json);
}

// Writes the launch inside the host's slice, with the names that other tools expect for the start
// of device work.
static void write_launch(Trace *trace, const TraceEntry *entry) {
    bool copy = entry->event->kind == EVENT_COPY;
    JsonWriter *json =
        begin_slice(trace, entry, "cuda_runtime", copy ? "cudaMemcpyAsync" : "cudaLaunchKernel");
    write_stream(json, entry);
    end_event(json);
}

void trace_write_entry(Trace *trace, const TraceEntry *entry) {
    static void (*const writers[])(Trace *, const TraceEntry *) = {
        [EVENT_OP] = write_op,           [EVENT_SITE] = write_site,     [EVENT_STEP] = write_step,
        [EVENT_COUNTER] = write_counter, [EVENT_MEMORY] = write_memory, [EVENT_COPY] = write_copy,
    };
    writers[entry->event->kind](trace, entry);
    if (entry->arrow)
        write_arrow(trace, entry, "fwdbwd", entry->event->phase == PHASE_FORWARD, entry->arrow);
    if (!entry->correlation) return;
    if (!entry->on_device) write_launch(trace, entry);
    write_arrow(trace, entry, "ac2g", !entry->on_device, entry->correlation);
}

// ---- names -----------------------------------------------------------------------------------
static JsonWriter *begin_name(Trace *trace, const char *what, Track track) {
    return begin_arguments(begin_event(trace, "M", what, track, trace->base));
}

static void name_process(Trace *trace, Track track, const char *name, int place) {
    JsonWriter *json = begin_name(trace, "process_name", track);
    member_text(json, "name", name);
    end_event(json);
    begin_name(trace, "process_sort_index", track);
    member_integer(json, "sort_index", place);
    end_event(json);
}

static void name_track(Trace *trace, Track track, const char *name, int place) {
    JsonWriter *json = begin_name(trace, "thread_name", track);
    member_text(json, "name", name);
    end_event(json);
    begin_name(trace, "thread_sort_index", track);
    member_integer(json, "sort_index", place);
    end_event(json);
}

void trace_write_names(Trace *trace, const char *process) {
    name_process(trace, main_track, process ? process : "ridgepoint", 0);
    if (trace->steps_apart) name_track(trace, step_track, "steps", 0);
    name_track(trace, main_track, "layers and ops", 1);
    if (!trace->has_device) return;
    name_process(trace, stream_track, "GPU", 1);
    name_track(trace, stream_track, "compute stream", 0);
}
