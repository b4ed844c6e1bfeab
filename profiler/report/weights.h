// weights.h -- how the parameters of a model are distributed: percentiles, zeros, what is not
// finite; for pruning, for choosing a precision, for seeing a layer that does not learn.
#ifndef PROFILER_REPORT_WEIGHTS_H
#define PROFILER_REPORT_WEIGHTS_H

#include <stdio.h>

#include "layers/layer.h"

RIDGEPOINT_API_BEGIN

typedef struct WeightStatistics {                // of one parameter tensor's values
    int64_t count, zeros, subnormal, not_finite; // not_finite: NaN and infinities, left out below
    double mean, deviation;                      // deviation: divisor count; NaN of nothing
    float min, p1, p25, median, p75, p99, max;   // nearest rank; NaN of nothing
} WeightStatistics;

// STATUS_OUT_OF_MEMORY (it copies what is finite), STATUS_INVALID_ARGUMENT for what is not
// contiguous float32 with data.
Status weights_summarise(const Tensor *parameter, WeightStatistics *statistics);

// A line for each parameter of the model, in 80 columns.
Status weights_print(const Layer *model, FILE *file);

RIDGEPOINT_API_END

#endif
