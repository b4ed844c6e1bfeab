// shrink.h -- what weights would take in fewer bits, and how far a model's output moves when they
// are rounded so, or pruned: which layers are candidates. Nothing is kept shrunk.
#ifndef PROFILER_REPORT_SHRINK_H
#define PROFILER_REPORT_SHRINK_H

#include <stdio.h>

#include "layers/layer.h"

RIDGEPOINT_API_BEGIN

typedef enum ShrinkKind {
    SHRINK_BFLOAT16, // rounded to the nearest, ties to even
    SHRINK_INT8,     // symmetric, a scale for each first index: whole multiples of |largest| / 127,
                     // ties to even; a row of zeros, and one that is not finite, stays
    SHRINK_PRUNED,   // the smallest by magnitude are 0: ratio x count of them, ties to even
    SHRINK_COUNT
} ShrinkKind;

// values (rows, columns), in place; `ratio` in [0, 1] of what is pruned. STATUS_OUT_OF_MEMORY
// (pruning sorts a copy); then nothing is changed.
Status shrink_values(ShrinkKind kind, double ratio, float *values, int64_t rows, int64_t columns);

typedef struct ShrinkOptions {
    double ratio; // of weights that are pruned
    // Between runs; fraction: the share of all runs that is done. NULL: none
    void (*progress)(void *argument, double fraction);
    void *argument;
} ShrinkOptions;

// A row for each parameter of two dimensions or more, and one for all at once: bytes in float32,
// bfloat16 and int8 (with 4 for each scale), and |y' - y| / |y| of the model's first output for x,
// in evaluation mode, with that parameter alone shrunk. Where the output is all 0, or not finite,
// there is no such number. Weights and modes are afterwards as they were. 80 columns.
// STATUS_INVALID_ARGUMENT for a ratio out of [0, 1]; after a failure nothing is printed.
Status shrink_print(Layer *model, Tensor *x, ShrinkOptions options, FILE *file);

RIDGEPOINT_API_END

#endif
