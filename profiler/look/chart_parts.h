// chart_parts.h -- internal to profiler/look/: what drawings share.
#ifndef PROFILER_LOOK_CHART_PARTS_H
#define PROFILER_LOOK_CHART_PARTS_H

#include "profiler/base/text.h"
#include "profiler/look/chart.h"

typedef struct ChartKey { // what a colour means
    const char *class, *name;
} ChartKey;

typedef struct Chart { // a drawing, before anything of it is drawn
    const char *id, *title;
    double width, height;
    const ChartKey *keys; // (n_keys)
    int n_keys;
    bool links;        // in a page its dots lead to rows
    const char *style; // of a file of its own; NULL: it is in a page
} Chart;
Svg chart_begin(const Chart *chart, WholeFile *file);
void chart_end(const Chart *chart, const Svg *svg);

// How a mark of an axis is written.
typedef Text ChartText(double value);
Text chart_seconds(double seconds);

// Below and to the left: marks, lines across the drawing, and what the axis is of.
void chart_axis_across(const Svg *svg, const SvgAxis *x, const SvgAxis *y, ChartText *text,
                       const char *name);
void chart_axis_up(const Svg *svg, const SvgAxis *x, const SvgAxis *y, ChartText *text,
                   const char *name);

#endif
