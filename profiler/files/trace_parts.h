// trace_parts.h -- internal to trace*.c: the events to write, their order, and the format of each
// kind.
#ifndef PROFILER_FILES_TRACE_PARTS_H
#define PROFILER_FILES_TRACE_PARTS_H

#include "profiler/base/json_writer.h"
#include "profiler/files/trace.h"

// A device's process is listed below the host's; its one stream is a track with a number unused by
// the host's tracks.
enum { HOST_PROCESS = 1, DEVICE_PROCESS = 2, MAIN_TRACK = 1, STEP_TRACK = 2, STREAM_TRACK = 3 };

typedef struct TraceEntry { // one event of the file, with its links
    const ProfileEvent *event;
    int64_t begin, end;
    bool on_device;      // the device's part of the event; false: the host's
    int64_t arrow;       // forward-to-backward arrow that begins or ends here; 0: none
    int64_t correlation; // shared by a launch and its work; 0: none
} TraceEntry;

typedef struct Trace {
    const Timeline *timeline;
    const Context *context;
    JsonWriter *json;
    TraceEntry *entries; // ordered by beginning, outer before inner
    int64_t count;       // number of entries to write
    int64_t left_out;    // number of entries beyond the limit
    int64_t base;        // nanoseconds at ts 0
    bool steps_apart;    // steps have a track of their own
    bool has_device;     // some events are a device's
} Trace;

void trace_write_names(Trace *trace, const char *process); // names of processes and tracks
void trace_write_entry(Trace *trace, const TraceEntry *entry);

#endif
