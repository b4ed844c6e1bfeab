// chart_parts.h -- internal to profiler/look/: helpers shared by all drawings.
#ifndef PROFILER_LOOK_CHART_PARTS_H
#define PROFILER_LOOK_CHART_PARTS_H

#include "profiler/base/text.h"
#include "profiler/look/chart.h"

typedef struct ChartKey { // one colour of the legend
    const char *class, *name;
} ChartKey;

typedef struct Chart { // the frame of a drawing
    const char *id, *title;
    double width, height;
    const ChartKey *keys; // (n_keys)
    int n_keys;
    bool links;        // dots link to rows, in a page
    const char *style; // CSS for a file of its own; NULL: in a page
} Chart;
Svg chart_begin(const Chart *chart, WholeFile *file);
void chart_end(const Chart *chart, const Svg *svg);

// Formats the value of an axis mark.
typedef Text ChartText(double value);
Text chart_seconds(double seconds);

// Draw an axis, below or to the left: marks, lines across the drawing, and the axis name.
void chart_axis_across(const Svg *svg, const SvgAxis *x, const SvgAxis *y, ChartText *text,
                       const char *name);
void chart_axis_up(const Svg *svg, const SvgAxis *x, const SvgAxis *y, ChartText *text,
                   const char *name);

#endif
