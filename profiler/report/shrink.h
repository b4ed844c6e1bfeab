// shrink.h -- the size of weights in fewer bits, and the change of a model's output when weights
// are rounded or pruned: finds candidate layers. No weight stays changed.
#ifndef PROFILER_REPORT_SHRINK_H
#define PROFILER_REPORT_SHRINK_H

#include <stdio.h>

#include "layers/layer.h"

RIDGEPOINT_API_BEGIN

typedef enum ShrinkKind {
    SHRINK_BFLOAT16, // rounded to the nearest, ties to even
    SHRINK_INT8,     // symmetric, one scale per first index: whole multiples of |largest| / 127,
                     // ties to even; rows of zeros and non-finite rows stay
    SHRINK_PRUNED,   // the ratio x count (ties to even) smallest by magnitude become 0
    SHRINK_COUNT
} ShrinkKind;

// Changes values (rows, columns) in place; `ratio` in [0, 1] is the pruned fraction.
// STATUS_OUT_OF_MEMORY (pruning sorts a copy); then nothing is changed.
Status shrink_values(ShrinkKind kind, double ratio, float *values, int64_t rows, int64_t columns);

typedef struct ShrinkOptions {
    double ratio; // fraction of weights to prune
    // Called between runs; fraction: the share of all runs done. NULL: none
    void (*progress)(void *argument, double fraction);
    void *argument;
} ShrinkOptions;

// Prints a row for each parameter of two or more dimensions, and one for all at once: bytes in
// float32, bfloat16 and int8 (plus 4 per scale), and |y' - y| / |y| of the model's first output for
// x, in evaluation mode, with only that parameter shrunk. If the output is all 0 or not finite,
// that number is missing. Weights and modes are restored. 80 columns. STATUS_INVALID_ARGUMENT for a
// ratio out of [0, 1]; after a failure nothing is printed.
Status shrink_print(Layer *model, Tensor *x, ShrinkOptions options, FILE *file);

RIDGEPOINT_API_END

#endif
