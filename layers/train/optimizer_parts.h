// optimizer_parts.h -- internal: what the files of the optimizer share. What kinds there are:
// optimizer_kinds.c; making and stepping: optimizer.c; resume: optimizer_resume.c.
#ifndef LAYERS_TRAIN_OPTIMIZER_PARTS_H
#define LAYERS_TRAIN_OPTIMIZER_PARTS_H

#include "layers/train/optimizer.h"

enum { OPTIMIZER_MOST_STATES = 2 };

// A kind: one row, and the op that takes its step.
typedef struct OptimizerRule {
    const char *flag, *name;
    int n_states;                              // that it keeps of each parameter, float32,
    const char *states[OPTIMIZER_MOST_STATES]; // by PyTorch's names
    bool counts_steps;                         // its op counts them: {learning rate, t}
    OptimizerConfig defaults;
    // {scalars, then p, g, states ...} of n parameters
    Status (*step)(const OptimizerConfig *config, Tensor *const inputs[], int n);
} OptimizerRule;
extern const OptimizerRule optimizer_rules[OPTIMIZER_COUNT];

struct Optimizer {
    OptimizerConfig config;
    Tensor **parameters; // borrowed
    Tensor **states;     // count x n_states, owned
    // Of one step op: scalars, then {p, g, states...} of parameters with a gradient.
    Tensor **inputs;
    int count, n_states, state_count;
    Tensor *scalars; // {learning rate (, t)}: what a step op reads; staged from the host
};

// In a dry run, what stands for an optimizer that comes in from outside. NULL: an error is pending.
Optimizer *optimizer_here(Optimizer *optimizer);
// STATUS_INVALID_ARGUMENT: a number that its kind cannot have.
Status optimizer_check_config(OptimizerConfig config);
// Momentum 0 is SGD, and SGD has none: the step op tells the two by this number.
OptimizerConfig optimizer_plain(OptimizerConfig config);

#endif
