// memory_plot.h -- internal to profiler/: the picture in memory_print's report.
#ifndef PROFILER_REPORT_MEMORY_PLOT_H
#define PROFILER_REPORT_MEMORY_PLOT_H

#include "profiler/report/memory_curve.h"
#include "profiler/report/report.h"
#include "profiler/report/text.h"

// The curve as a picture of letters, one per category, over the ops of the step.
void memory_plot(const Profile *profile, const MemoryCurve *curve, FILE *file);

#endif
