// chart_parts.h -- internal to profiler/look/: what drawings share.
#ifndef PROFILER_LOOK_CHART_PARTS_H
#define PROFILER_LOOK_CHART_PARTS_H

#include "profiler/look/chart.h"
#include "profiler/report/text.h"

// How a mark of an axis is written.
typedef Text ChartText(double value);
Text chart_seconds(double seconds);

// Below and to the left: marks, lines across the drawing, and what the axis is of.
void chart_axis_across(const Svg *svg, const SvgAxis *x, const SvgAxis *y, ChartText *text,
                       const char *name);
void chart_axis_up(const Svg *svg, const SvgAxis *x, const SvgAxis *y, ChartText *text,
                   const char *name);

#endif
