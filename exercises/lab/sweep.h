// sweep.h -- measures one model at many batch sizes and writes sweep.csv, which exercise 11 reads.
// Real runs on this machine: nothing of it is graded as a time.
#ifndef EXERCISES_LAB_SWEEP_H
#define EXERCISES_LAB_SWEEP_H

#include <stdint.h>

#include "tensor/status.h"

typedef struct SweepOptions {
    int64_t most_batch;         // batches 1, 2, 4 ... up to this one
    int64_t warmup, iterations; // of each batch
    void (*progress)(void *argument, int64_t batch, double seconds); // after each; NULL: none
    void *argument;
} SweepOptions;
SweepOptions sweep_defaults(void); // up to 1024, 5 and 31

// Forward of the MLP 784-512-256-10 in inference mode: a header and a line for each batch,
//     batch,seconds,samples_per_second
//     1,2.31e-05,43290.0433
// with the median of the samples. The file is written whole or not at all.
Status sweep_write(const char *path, SweepOptions options);

#endif
