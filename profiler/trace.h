// trace.h -- a timeline as a Chrome trace, which Perfetto, speedscope, chrome://tracing and
// HolisticTraceAnalysis open. The rules are conventions.md's, section 5.
#ifndef PROFILER_TRACE_H
#define PROFILER_TRACE_H

#include "profiler/timeline.h"

typedef struct TraceOptions {
    const char *process;      // its name: "profile_mlp 784-512-256-10 relu"
    int64_t most_events;      // written; 0: all. What is left out is counted in the file
    const char *const *notes; // name, value, name, value ...: into otherData
    int n_notes;
} TraceOptions;

// Names come from the current context, in which the timeline was recorded. The file appears whole
// or not at all; "-" is standard output. STATUS_IO, STATUS_OUT_OF_MEMORY.
Status trace_write(const Timeline *timeline, TraceOptions options, const char *path);

#endif
