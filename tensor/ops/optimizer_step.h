// optimizer_step.h -- internal: steps of optimizers. in[0] is a state of some numbers; then come
// groups of equal-shaped tensors: a parameter, its gradient, and the optimizer's own tensors.
#ifndef TENSOR_OPS_OPTIMIZER_STEP_H
#define TENSOR_OPS_OPTIMIZER_STEP_H

#include "tensor/ops/elementwise.h"

// Updates elements [begin, end) of one group.
typedef void (*OptimizerTask)(const OpCall *call, Tensor *const group[], int64_t begin,
                              int64_t end);

// Checks groups of `period` tensors after a state of `state_size` numbers.
Status optimizer_step_infer(OpCall *call, int period, int64_t state_size);
void optimizer_step_run(const OpCall *call, int period, OptimizerTask task);
int64_t optimizer_step_handoffs(const OpCall *call, int period); // Op.handoffs

#endif
