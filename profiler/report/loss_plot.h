// loss_plot.h -- internal to profiler/: the losses of a training as a picture.
#ifndef PROFILER_REPORT_LOSS_PLOT_H
#define PROFILER_REPORT_LOSS_PLOT_H

#include <stdint.h>
#include <stdio.h>

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
