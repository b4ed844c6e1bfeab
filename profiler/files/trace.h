// trace.h -- a timeline as a Chrome trace, which Perfetto, speedscope, chrome://tracing and
// HolisticTraceAnalysis open. The rules: profiler/CONVENTIONS.md, section 5.
//
// What is in the file, in the order of its beginning, outer before inner:
//   slices ("X")     ops and copies ("cpu_op"), layers ("layer"), scopes and ProfilerStep#N
//                    ("user_annotation"). Steps stand above what they contain. Where a scope or a
//                    layer is open across a step's end, they would cross: then all steps have a
//                    track of their own. Nothing is ever clipped.
//                    What a device with a time of its own did stands in a process of its own
//                    ("kernel", "gpu_memcpy"), and within the op's or copy's slice its launch
//                    ("cuda_runtime"); both have the same `correlation`. Where the device waits
//                    for launches, its slice begins as its launch does (timeline.h).
//   counters ("C")   the user's, and live bytes of each memory category
//   arrows ("s","f") from the last forward op of a layer to the first backward op that follows
//                    ("fwdbwd"), and from a launch to what it launched ("ac2g")
// HolisticTraceAnalysis rounds to microseconds and then fails on shorter slices; not with
// HTA_DISABLE_NS_ROUNDING=1.
// otherData holds the notes, how many events were dropped, and the clock's reading at ts 0, which
// is where the first event began.
#ifndef PROFILER_FILES_TRACE_H
#define PROFILER_FILES_TRACE_H

#include "profiler/record/timeline.h"

RIDGEPOINT_API_BEGIN

typedef struct TraceOptions {
    const char *process; // its name: "profile_mlp 784-512-256-10 relu"
    // Written, at most: those that began first; 0: all. What is left out is counted in the file, as
    // are events that the timeline dropped and counters that were no finite number.
    int64_t most_events;
    const char *const *notes; // name, value, name, value ...: into otherData
    int n_notes;              // pairs
} TraceOptions;

// Names come from the current context, in which the timeline was recorded. The file appears whole
// or not at all; "-" is standard output. STATUS_IO, STATUS_OUT_OF_MEMORY.
Status trace_write(const Timeline *timeline, TraceOptions options, const char *path);

RIDGEPOINT_API_END

#endif
