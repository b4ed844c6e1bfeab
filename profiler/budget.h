// budget.h -- what would fit: the largest batch for so many bytes, and what each optimizer needs.
// Predicted by dry runs of the model's own step, so equal to what a run will measure.
#ifndef PROFILER_BUDGET_H
#define PROFILER_BUDGET_H

#include "layers/train/optimizer.h"

typedef struct Budget {
    int64_t batch;          // the largest whose peak fits; 0: not even one sample
    int64_t peak_bytes;     // of a training step of that batch
    int64_t next_bytes;     // of one sample more: does not fit
    int64_t measured_bytes; // peak of a real step of that batch; -1: not verified (meta, or
                            // no memory for it)
} Budget;

// x: a batch of any size, whose shape behind the batch counts. Searches by dry runs; then, with
// `verify` and on a device with data, runs two steps of that batch and reads the ledger. The
// model's weights and modes stay; its gradients are overwritten.
Status budget_largest_batch(Layer *model, OptimizerConfig optimizer, const Tensor *x, int64_t bytes,
                            bool verify, Budget *budget);

// Peak bytes of a training step of x's batch with each optimizer, by dry runs.
Status budget_by_optimizer(Layer *model, const Tensor *x, int64_t peak[OPTIMIZER_COUNT]);

#endif
