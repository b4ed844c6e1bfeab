// optimizer_step.h -- internal to ops/: one pass over the elements of all parameters of a step.
#ifndef TENSOR_OPS_OPTIMIZER_STEP_H
#define TENSOR_OPS_OPTIMIZER_STEP_H

#include "tensor/ops/elementwise.h"

// in[0] is the state; then groups of `period` tensors of one shape: parameter, gradient, ...
int64_t step_numel(const OpCall *call, int period); // elements of all parameters
Status step_infer(OpCall *call, int period, int64_t state_size);

// Updates elements [begin, end) of one group.
typedef void (*StepTask)(const OpCall *call, Tensor *const group[], int64_t begin, int64_t end);
// Splits all elements over the threads, whatever the sizes of the parameters.
void step_run(const OpCall *call, int period, StepTask task);

static inline float *step_data(const Tensor *t) { return (float *)(void *)tensor_raw(t); }

#endif
