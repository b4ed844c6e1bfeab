// openmetrics.h -- a profile as text that Prometheus and its like collect (OpenMetrics 1.0): gauges
// of the step, its phases and layers. Not here: histories (history.h); samples (profile_json.h).
//
//     ridgepoint_layer_seconds{model="MLP",device="cpu",batch="64",threads="2",layer="fc1",...} 0.1
#ifndef PROFILER_FILES_OPENMETRICS_H
#define PROFILER_FILES_OPENMETRICS_H

#include "profiler/profile.h"

// Times are medians of all runs. What is not known or did not happen has no line. Whole, or as it
// was: STATUS_IO, STATUS_OUT_OF_MEMORY.
Status openmetrics_write(const Profile *profile, const char *path);

#endif
