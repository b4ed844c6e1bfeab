// optimizer.h -- updates parameters by their gradients: SGD, momentum, Adam, AdamW, RMSprop, Lion;
// also losses, and the check of losses that are not finite.
#ifndef LAYERS_TRAIN_OPTIMIZER_H
#define LAYERS_TRAIN_OPTIMIZER_H

#include "layers/layer.h"

RIDGEPOINT_API_BEGIN

typedef enum OptimizerKind {
    OPTIMIZER_SGD,
    OPTIMIZER_MOMENTUM,
    OPTIMIZER_ADAM,
    OPTIMIZER_ADAMW,
    OPTIMIZER_RMSPROP,
    OPTIMIZER_LION,
    OPTIMIZER_COUNT
} OptimizerKind;
const char *optimizer_flag(OptimizerKind kind); // "adamw"
const char *optimizer_name(OptimizerKind kind); // "AdamW"

typedef struct OptimizerConfig {
    OptimizerKind kind;
    float learning_rate;
    float momentum;              // MOMENTUM only
    bool nesterov;               // MOMENTUM only
    float weight_decay;          // ADAMW and LION decay the weight itself; else added to gradients
    float beta1, beta2, epsilon; // ADAM, ADAMW; RMSPROP beta2 (torch: alpha), epsilon; LION betas
    float clip_norm;             // scales the gradients to this norm before each step; 0: does not
} OptimizerConfig;
// PyTorch's defaults; learning rates 0.1 (SGD), 0.05 (momentum 0.9), 0.001 (Adam, AdamW; decay
// 0.01), 0.01 (RMSprop, beta2 0.99); for Lion its paper's, 0.0001 (beta2 0.99).
OptimizerConfig optimizer_defaults(OptimizerKind kind);

typedef struct Optimizer Optimizer;
// Borrows the model's parameters (those that want gradients now); its state is category optimizer.
// NULL and STATUS_INVALID_ARGUMENT: an unknown kind, a number below 0, a beta of 1 or more.
Optimizer *optimizer_new(const Layer *model, OptimizerConfig config);
void optimizer_free(Optimizer *optimizer);
void optimizer_zero_grad(Optimizer *optimizer); // marks gradients empty; touches no memory
// Updates every parameter that has a gradient, in one pass. All share one step count t (Adam).
// PyTorch counts per parameter, so it corrects more where a first gradient comes late.
Status optimizer_step(Optimizer *optimizer);
// Scales all gradients in place so that their common norm is at most max_norm, which is above 0.
// For loops that want to see the norm before scaling: *norm (NaN on meta), unless NULL. With
// clip_norm, optimizer_step scales without this call.
Status optimizer_clip_gradients(Optimizer *optimizer, float max_norm, double *norm);
// The rate is at least 0; otherwise an error is pending, and the old rate stays.
void optimizer_set_learning_rate(Optimizer *optimizer, float learning_rate);

// ---- state for exact resume (layers/files/checkpoint.h) ----------------------------------------
OptimizerConfig optimizer_config(const Optimizer *optimizer); // with the current learning rate
// Lists its state for each parameter, under the parameter's path in the model:
// "fc1.weight.exp_avg", with PyTorch's names; borrowed. STATUS_STATE: the model lacks one of its
// parameters. Free with parameter_list_free.
Status optimizer_state(const Optimizer *optimizer, const Layer *model, ParameterList *list);
// Adam's step count t; 0 for the other kinds. On a device it waits. -1: an error is pending.
int64_t optimizer_steps(const Optimizer *optimizer);
// Checks these for optimizer_restore: the same kind, and numbers that optimizer_new accepts.
Status optimizer_check_restore(const Optimizer *optimizer, OptimizerConfig config, int64_t steps);
// Continues with these settings after `steps` steps; the state of parameters stays as it is.
Status optimizer_restore(Optimizer *optimizer, OptimizerConfig config, int64_t steps);

// Losses as in tensor/ops.h, each charged to the call site `loss`. Logits are (..., classes),
// labels (...) of the same leading sizes: (n) for images, (n, tokens) for texts.
Tensor *loss_cross_entropy(Tensor *logits, Tensor *labels);
Tensor *loss_cross_entropy_with(Tensor *logits, Tensor *labels, LabelLoss options);
Tensor *loss_nll(Tensor *log_probabilities, Tensor *labels, LabelLoss options);
Tensor *loss_mse(Tensor *prediction, Tensor *target);
Tensor *loss_l1(Tensor *prediction, Tensor *target);
Tensor *loss_huber(Tensor *prediction, Tensor *target, float delta);
Tensor *loss_binary_cross_entropy(Tensor *logits, Tensor *targets);
Tensor *loss_kl_divergence(Tensor *log_probabilities, Tensor *targets);
// Computes the loss that a step minimises, one number, from a model's output and its labels.
typedef Tensor *(*LossFunction)(Tensor *output, Tensor *labels);

// After a loss that is not finite: runs forward once more and reports where NaN or infinity first
// appears. Returns STATUS_NON_FINITE with "step 12: loss is nan; first in fc2 (linear)" pending.
Status train_explain_non_finite(Layer *model, Tensor *x, int64_t step, double loss);

RIDGEPOINT_API_END

#endif
