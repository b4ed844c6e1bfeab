// chart.h -- a profile as drawings, each one SVG. What stands on hover, or for a screen reader, is
// the evidence of the report. Not here: how a shape is written (svg.h), the page around (page.h).
#ifndef PROFILER_LOOK_CHART_H
#define PROFILER_LOOK_CHART_H

#include "profiler/compare/sweep.h"
#include "profiler/look/svg.h"
#include "profiler/report/loss_plot.h"
#include "profiler/report/memory_curve.h"

// Classes of the shapes, which a style gives colours: forward, backward, optimizer; categories of
// memory by memory_category_name; parts of time by chart_parts' table; axis, grid, label, roof.

// Each layer a dot by its intensity and FLOP/s, under the peak and the bandwidth of every level.
// `style` NULL: in a page, to whose rows dots lead ("#layer-0"); else a file of its own. False, and
// nothing is written: without ceilings or times.
bool chart_roofline(const Profile *profile, const char *style, WholeFile *file);
// Live bytes by category over the ops of the step, and where the peak is.
void chart_memory(const Profile *profile, const MemoryCurve *curve, WholeFile *file);
// The ops of a step end to end by their medians: on the calling thread, on the others, and by
// layer.
bool chart_step(const Profile *profile, WholeFile *file);
// Of each layer, where its time went: the roof, and what was measured beyond it.
bool chart_parts(const Profile *profile, WholeFile *file);
// The losses of a training, and the points of a sweep, throughput or accuracy by what it takes.
bool chart_losses(const LossCurve *curve, WholeFile *file);
bool chart_sweep(const Sweep *sweep, WholeFile *file);

// A line of small squares with their names below a drawing, in a page.
typedef struct ChartKey {
    const char *class, *name;
} ChartKey;
void chart_legend(const ChartKey *keys, int n, WholeFile *file);

// "#layer-12": what a dot leads to, and a row is called.
enum { CHART_LINK = 24 };
char *chart_layer_link(int layer, char text[CHART_LINK]);

#endif
