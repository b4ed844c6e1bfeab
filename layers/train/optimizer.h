// optimizer.h -- what changes parameters by their gradients: SGD, momentum, Adam, AdamW, RMSprop,
// Lion; and the losses and checks that a training loop needs beside them.
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
    float momentum;     // MOMENTUM only
    bool nesterov;      // MOMENTUM only
    float weight_decay; // ADAMW, LION decay the weight itself, the others add it to the gradient
    float beta1, beta2, epsilon; // ADAM, ADAMW; RMSPROP beta2 (torch: alpha), epsilon; LION betas
    float clip_norm;             // each step first scales the gradients to this norm; 0: not
} OptimizerConfig;
// PyTorch's defaults; learning rates 0.1 (SGD), 0.05 (momentum 0.9), 0.001 (Adam, AdamW; decay
// 0.01), 0.01 (RMSprop, beta2 0.99); of Lion its paper's, 0.0001 (beta2 0.99).
OptimizerConfig optimizer_defaults(OptimizerKind kind);

typedef struct Optimizer Optimizer;
// Borrows the model's parameters (those that want gradients now); its state is category optimizer.
// NULL and STATUS_INVALID_ARGUMENT: a kind that there is not, a number below 0, a beta of 1 or
// more.
Optimizer *optimizer_new(const Layer *model, OptimizerConfig config);
void optimizer_free(Optimizer *optimizer);
void optimizer_zero_grad(Optimizer *optimizer); // marks gradients empty; touches no memory
// One pass over every parameter that has a gradient. Adam's t is one for all: to a parameter whose
// first gradient comes later, PyTorch, which counts for each, would do more.
Status optimizer_step(Optimizer *optimizer);
// Scales all gradients to a common norm of at most max_norm, above 0, in place, for loops that want
// to see the norm before: it goes to *norm (NaN on meta) when that is not NULL. clip_norm does it
// unasked.
Status optimizer_clip_gradients(Optimizer *optimizer, float max_norm, double *norm);
// From 0 on; else an error is pending, and the old one stays.
void optimizer_set_learning_rate(Optimizer *optimizer, float learning_rate);

// ---- what exact resume keeps (layers/files/checkpoint.h) --------------------------------------
OptimizerConfig optimizer_config(const Optimizer *optimizer); // with the learning rate of now
// What it keeps of each parameter, by the parameter's path in the model: "fc1.weight.exp_avg",
// named as PyTorch's; borrowed. STATUS_STATE: the model lacks one of its parameters. Free with
// parameter_list_free.
Status optimizer_state(const Optimizer *optimizer, const Layer *model, ParameterList *list);
// Adam's count of steps, t; of the others 0. On a device that is to wait. -1: an error is pending.
int64_t optimizer_steps(const Optimizer *optimizer);
// Would optimizer_restore take these? Of the same kind, its numbers as optimizer_new wants them.
Status optimizer_check_restore(const Optimizer *optimizer, OptimizerConfig config, int64_t steps);
// Goes on with these numbers behind so many steps; what it keeps of parameters is as it was.
Status optimizer_restore(Optimizer *optimizer, OptimizerConfig config, int64_t steps);

// Losses as tensor/ops.h has them, each charged to the call site `loss`.
// Logits (..., classes), labels (...), as many as there are: of images (n), of texts (n, tokens).
Tensor *loss_cross_entropy(Tensor *logits, Tensor *labels);
Tensor *loss_cross_entropy_with(Tensor *logits, Tensor *labels, LabelLoss options);
Tensor *loss_nll(Tensor *log_probabilities, Tensor *labels, LabelLoss options);
Tensor *loss_mse(Tensor *prediction, Tensor *target);
Tensor *loss_l1(Tensor *prediction, Tensor *target);
Tensor *loss_huber(Tensor *prediction, Tensor *target, float delta);
Tensor *loss_binary_cross_entropy(Tensor *logits, Tensor *targets);
Tensor *loss_kl_divergence(Tensor *log_probabilities, Tensor *targets);
// One number from what a model gives and what it should have given: what a step minimises.
typedef Tensor *(*LossFunction)(Tensor *output, Tensor *labels);

// For a loss that is not finite: runs forward once more and says where NaN or infinity first came
// up. Returns STATUS_NON_FINITE with "step 12: loss is nan; first in fc2 (linear)" pending.
Status train_explain_non_finite(Layer *model, Tensor *x, int64_t step, double loss);

RIDGEPOINT_API_END

#endif
