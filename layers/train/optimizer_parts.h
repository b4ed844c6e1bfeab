// optimizer_parts.h -- internal: declarations that the optimizer's files share. The kinds:
// optimizer_kinds.c; making and stepping: optimizer.c; resume: optimizer_resume.c.
#ifndef LAYERS_TRAIN_OPTIMIZER_PARTS_H
#define LAYERS_TRAIN_OPTIMIZER_PARTS_H

#include "layers/train/optimizer.h"

enum { OPTIMIZER_MOST_STATES = 2 };

// A kind of optimizer: one row, with the op that takes its step.
typedef struct OptimizerRule {
    const char *flag, *name;
    int n_states;                              // float32 tensors kept for each parameter,
    const char *states[OPTIMIZER_MOST_STATES]; // PyTorch's names of them
    bool counts_steps;                         // its op counts steps: {learning rate, t}
    OptimizerConfig defaults;
    // inputs: {scalars, then p, g, states ...} of n parameters
    Status (*step)(const OptimizerConfig *config, Tensor *const inputs[], int n);
} OptimizerRule;
extern const OptimizerRule optimizer_rules[OPTIMIZER_COUNT];

struct Optimizer {
    OptimizerConfig config;
    Tensor **parameters; // borrowed
    Tensor **states;     // count x n_states, owned
    // Inputs of one step op: scalars, then {p, g, states...} of each parameter with a gradient.
    Tensor **inputs;
    int count, n_states, state_count;
    Tensor *scalars; // a step op's {learning rate (, t)}; staged from the host
};

// In a dry run, the twin of an optimizer from outside. NULL: an error is pending.
Optimizer *optimizer_here(Optimizer *optimizer);
// STATUS_INVALID_ARGUMENT: a number that this kind cannot have.
Status optimizer_check_config(OptimizerConfig config);
// Normalises the momentum: MOMENTUM with 0 becomes SGD, and SGD has 0; the step op goes by it.
OptimizerConfig optimizer_plain(OptimizerConfig config);

#endif
