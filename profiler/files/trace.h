// trace.h -- a timeline as a Chrome trace, which Perfetto, speedscope, chrome://tracing and
// HolisticTraceAnalysis open. The rules: profiler/CONVENTIONS.md, section 5.
//
// The file's contents, ordered by beginning, outer before inner:
//   slices ("X")     ops and copies ("cpu_op"), layers ("layer"), scopes and ProfilerStep#N
//                    ("user_annotation"). Steps enclose their contents. If a scope or a layer is
//                    open across a step's end, they would cross: then all steps get a track of
//                    their own. Nothing is ever clipped.
//                    Work of a device with its own time is in a separate process ("kernel",
//                    "gpu_memcpy"); the op's or copy's slice contains its launch
//                    ("cuda_runtime") with the same `correlation`. If the device waits for
//                    launches, its slice begins with the launch (timeline.h).
//   counters ("C")   the user's, and live bytes of each memory category
//   arrows ("s","f") from the last forward op of a layer to the first backward op that follows
//                    ("fwdbwd"), and from a launch to the launched work ("ac2g")
// HolisticTraceAnalysis rounds to microseconds and then fails on shorter slices, unless
// HTA_DISABLE_NS_ROUNDING=1.
// otherData holds the notes, the number of dropped events, and the clock's reading at ts 0, the
// beginning of the first event.
#ifndef PROFILER_FILES_TRACE_H
#define PROFILER_FILES_TRACE_H

#include "profiler/record/timeline.h"

RIDGEPOINT_API_BEGIN

typedef struct TraceOptions {
    const char *process; // process name: "profile_mlp 784-512-256-10 relu"
    // Maximum number of written events, those that began first; 0: all. The file tells how many
    // were left out, how many the timeline dropped, and how many counters were not finite.
    int64_t most_events;
    const char *const *notes; // name, value, name, value ...: into otherData
    int n_notes;              // pairs
} TraceOptions;

// Names come from the current context, which must be the recorded one. The file appears whole or
// not at all; "-" is standard output. STATUS_IO, STATUS_OUT_OF_MEMORY.
Status trace_write(const Timeline *timeline, TraceOptions options, const char *path);

RIDGEPOINT_API_END

#endif
