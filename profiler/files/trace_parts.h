// trace_parts.h -- internal to trace*.c: what is written, in which order, and how an event of each
// kind is.
#ifndef PROFILER_FILES_TRACE_PARTS_H
#define PROFILER_FILES_TRACE_PARTS_H

#include "profiler/base/json_writer.h"
#include "profiler/files/trace.h"

// A device's process stands below the host's; its one stream is a track, whose number no track of
// the host has.
enum { HOST_PROCESS = 1, DEVICE_PROCESS = 2, MAIN_TRACK = 1, STEP_TRACK = 2, STREAM_TRACK = 3 };

typedef struct TraceEntry { // one event of the file, with what belongs to it
    const ProfileEvent *event;
    int64_t begin, end;
    bool on_device;      // what the device did of it; else what the host did
    int64_t arrow;       // number of one that begins or ends here, forward to backward; 0: none
    int64_t correlation; // of a launch and what it launched; 0: none
} TraceEntry;

typedef struct Trace {
    const Timeline *timeline;
    const Context *context;
    JsonWriter *json;
    TraceEntry *entries; // by beginning, outer before inner
    int64_t count;       // to be written
    int64_t left_out;    // beyond
    int64_t base;        // nanoseconds at ts 0
    bool steps_apart;    // on a track of their own
    bool has_device;     // some of it
} Trace;

void trace_write_names(Trace *trace, const char *process); // of processes and tracks
void trace_write_entry(Trace *trace, const TraceEntry *entry);

#endif
