// gbench.h -- times as Google Benchmark writes them in JSON, so that what reads that reads them:
// its compare.py, dashboards that follow a project's benchmarks. Counts are not in it
// (profile_json.h).
#ifndef PROFILER_FILES_GBENCH_H
#define PROFILER_FILES_GBENCH_H

#include "profiler/profile.h"

// Names are "step", "forward", "inference", "fc1/forward"; of several processes each is a
// repetition. Of a layer no processor time is known apart from its time: cpu_time is real_time, as
// of a thread that is timed and does not sleep. Whole, or as it was: STATUS_IO,
// STATUS_OUT_OF_MEMORY.
Status gbench_write(const Profile *profile, const char *command, const char *path);

#endif
