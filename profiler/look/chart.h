// chart.h -- a profile as drawings, one SVG each. Texts on hover or for a screen reader are the
// report's evidence. Not here: how a shape is written (svg.h), the page around (page.h).
#ifndef PROFILER_LOOK_CHART_H
#define PROFILER_LOOK_CHART_H

#include "profiler/compare/sweep.h"
#include "profiler/look/svg.h"
#include "profiler/report/memory_curve.h"
#include "profiler/report/plots.h"

// The shapes have classes, whose colours the style sets: forward, backward, optimizer; categories
// of memory by memory_category_name; parts of time by chart_parts' table; axis, grid, label, roof.

// For all charts: `style` is NULL in a page, with the legend below the drawing; else the drawing is
// a file of its own, with the legend in it. False, with nothing written: there is nothing to draw,
// or, with an error pending, no memory.

// A dot for each layer at its intensity and FLOP/s, under the peak and the bandwidth of every
// level; in a page, dots link to the layers' rows ("#layer-0"). Needs ceilings and times.
bool chart_roofline(const Profile *profile, const char *style, WholeFile *file);
// Live bytes by category over the ops of the step, with the peak marked.
bool chart_memory(const Profile *profile, const char *style, WholeFile *file);
// The ops of a step end to end, by median time: on the calling thread, on the others, and by
// layer.
bool chart_step(const Profile *profile, const char *style, WholeFile *file);
// Each layer's time in parts: the roof, and the measured parts beyond it.
bool chart_parts(const Profile *profile, const char *style, WholeFile *file);
// The losses of a training; the points of a sweep, throughput or accuracy over cost.
bool chart_losses(const LossCurve *curve, const char *style, WholeFile *file);
bool chart_sweep(const Sweep *sweep, const char *style, WholeFile *file);

// "#layer-12": the link of a dot, and the id of its row.
enum { CHART_LINK = 24 };
char *chart_layer_link(int layer, char text[CHART_LINK]);

#endif
