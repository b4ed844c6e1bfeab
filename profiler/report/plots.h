// plots.h -- internal to profiler/: pictures of letters, of a step's memory and of a training's
// losses.
#ifndef PROFILER_REPORT_PLOTS_H
#define PROFILER_REPORT_PLOTS_H

#include <stdint.h>
#include <stdio.h>

#include "profiler/base/text.h"
#include "profiler/report/memory_curve.h"
#include "profiler/report/report.h"

// ---- memory_plot.c ------------------------------------------------------------------------------
// The curve as a picture of letters, one per category, over the ops of the step.
void memory_plot(const Profile *profile, const MemoryCurve *curve, FILE *file);

// ---- loss_plot.c --------------------------------------------------------------------------------
enum { LOSS_COLUMNS = 64 };

// The mean loss of each of some parts of a training, as its steps go by. Begins as {first, last}.
typedef struct LossCurve {
    int64_t first, last; // its steps, from 1, both included
    double sum[LOSS_COLUMNS];
    int64_t n[LOSS_COLUMNS];
} LossCurve;

void loss_curve_add(LossCurve *curve, int64_t step, double loss); // one that is NaN is left out
// The mean of each part; of one without a step, as there is in a short training, what was before.
// How many parts, from the first, the training has come to.
int loss_curve_means(const LossCurve *curve, double mean[LOSS_COLUMNS]);

// Ten rows; a line of '-' at `level`, which its last row explains by `name`. Nothing without
// losses.
void loss_plot(const LossCurve *curve, double level, const char *name, FILE *file);

#endif
