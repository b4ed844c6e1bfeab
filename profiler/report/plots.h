// plots.h -- internal to profiler/: text plots of a step's memory and of the losses of a training.
#ifndef PROFILER_REPORT_PLOTS_H
#define PROFILER_REPORT_PLOTS_H

#include <stdint.h>
#include <stdio.h>

#include "profiler/base/text.h"
#include "profiler/report/memory_curve.h"
#include "profiler/report/report.h"

// ---- memory_plot.c ------------------------------------------------------------------------------
// Plots the curve over the ops of the step with letters, one letter per category.
void memory_plot(const Profile *profile, const MemoryCurve *curve, FILE *file);

// ---- loss_plot.c --------------------------------------------------------------------------------
enum { LOSS_COLUMNS = 64 };

// Mean losses of consecutive parts of a training. Initialise as {first, last}.
typedef struct LossCurve {
    int64_t first, last; // first and last step of the training, from 1, inclusive
    double sum[LOSS_COLUMNS];
    int64_t n[LOSS_COLUMNS];
} LossCurve;

void loss_curve_add(LossCurve *curve, int64_t step, double loss); // ignores NaN
// Finds the mean of each part; a part without steps, as in a short training, repeats the previous
// mean. Returns the number of parts that the training has reached.
int loss_curve_means(const LossCurve *curve, double mean[LOSS_COLUMNS]);

// Plots ten rows, with a line of '-' at `level`, which the last row labels with `name`. Prints
// nothing without losses.
void loss_plot(const LossCurve *curve, double level, const char *name, FILE *file);

#endif
