// chart.h -- a profile as drawings, each one SVG. What stands on hover, or for a screen reader, is
// the evidence of the report. Not here: how a shape is written (svg.h), the page around (page.h).
#ifndef PROFILER_LOOK_CHART_H
#define PROFILER_LOOK_CHART_H

#include "profiler/compare/sweep.h"
#include "profiler/look/svg.h"
#include "profiler/report/memory_curve.h"
#include "profiler/report/plots.h"

// Classes of the shapes, which a style gives colours: forward, backward, optimizer; categories of
// memory by memory_category_name; parts of time by chart_parts' table; axis, grid, label, roof.

// Of each: `style` NULL: in a page, below which stands what its colours mean; else a file of its
// own, in which that stands. False, and nothing is written: there is nothing to see, or (an error
// is pending) no room for it.

// Each layer a dot by its intensity and FLOP/s, under the peak and the bandwidth of every level; in
// a page it leads to the layer's row ("#layer-0"). None without ceilings or times.
bool chart_roofline(const Profile *profile, const char *style, WholeFile *file);
// Live bytes by category over the ops of the step, and where the peak is.
bool chart_memory(const Profile *profile, const char *style, WholeFile *file);
// The ops of a step end to end by their medians: on the calling thread, on the others, and by
// layer.
bool chart_step(const Profile *profile, const char *style, WholeFile *file);
// Of each layer, where its time went: the roof, and what was measured beyond it.
bool chart_parts(const Profile *profile, const char *style, WholeFile *file);
// The losses of a training, and the points of a sweep, throughput or accuracy by what it takes.
bool chart_losses(const LossCurve *curve, const char *style, WholeFile *file);
bool chart_sweep(const Sweep *sweep, const char *style, WholeFile *file);

// "#layer-12": what a dot leads to, and a row is called.
enum { CHART_LINK = 24 };
char *chart_layer_link(int layer, char text[CHART_LINK]);

#endif
