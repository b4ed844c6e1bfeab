// weights.h -- the distribution of a model's parameters (percentiles, zeros, non-finite values):
// for pruning, for choosing a precision, and to see a layer that does not learn.
#ifndef PROFILER_REPORT_WEIGHTS_H
#define PROFILER_REPORT_WEIGHTS_H

#include <stdio.h>

#include "layers/layer.h"

RIDGEPOINT_API_BEGIN

typedef struct WeightStatistics {                // statistics of one parameter tensor
    int64_t count, zeros, subnormal, not_finite; // not_finite: NaN and infinities, excluded below
    double mean, deviation;                      // deviation: divisor count; NaN if empty
    float min, p1, p25, median, p75, p99, max;   // nearest rank; NaN if empty
} WeightStatistics;

// STATUS_OUT_OF_MEMORY (it copies the finite values), STATUS_INVALID_ARGUMENT if the tensor is not
// contiguous float32 with data.
Status weights_summarise(const Tensor *parameter, WeightStatistics *statistics);

// Prints a line for each parameter of the model, in 80 columns.
Status weights_print(const Layer *model, FILE *file);

RIDGEPOINT_API_END

#endif
