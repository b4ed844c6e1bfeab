// optimizer_kinds.c -- the optimizers, a row each: states, defaults and step op; and the valid
// ranges of their numbers. Nothing here holds a parameter.
#include <math.h>

#include "layers/train/optimizer_parts.h"
#include "tensor/ops.h"

static Status sgd_step(const OptimizerConfig *c, Tensor *const inputs[], int n) {
    return tensor_sgd_step(inputs, n, (SgdParams){c->momentum, c->weight_decay, c->nesterov});
}

static Status adam_step(const OptimizerConfig *c, Tensor *const inputs[], int n) {
    return tensor_adam_step(inputs, n,
                            (AdamParams){c->beta1, c->beta2, c->epsilon, c->weight_decay,
                                         c->kind == OPTIMIZER_ADAMW});
}

static Status rmsprop_step(const OptimizerConfig *c, Tensor *const inputs[], int n) {
    return tensor_rmsprop_step(inputs, n, (RmspropParams){c->beta2, c->epsilon, c->weight_decay});
}

static Status lion_step(const OptimizerConfig *c, Tensor *const inputs[], int n) {
    return tensor_lion_step(inputs, n, (LionParams){c->beta1, c->beta2, c->weight_decay});
}

#define BETAS .beta1 = 0.9f, .beta2 = 0.999f, .epsilon = 1e-8f
const OptimizerRule optimizer_rules[OPTIMIZER_COUNT] = {
    [OPTIMIZER_SGD] = {.flag = "sgd",
                       .name = "SGD",
                       .defaults = {.kind = OPTIMIZER_SGD, .learning_rate = 0.1f, BETAS},
                       .step = sgd_step},
    [OPTIMIZER_MOMENTUM] =
        {.flag = "momentum",
         .name = "Momentum",
         .n_states = 1,
         .states = {"momentum_buffer"},
         .defaults = {.kind = OPTIMIZER_MOMENTUM, .learning_rate = 0.05f, .momentum = 0.9f, BETAS},
         .step = sgd_step},
    [OPTIMIZER_ADAM] = {.flag = "adam",
                        .name = "Adam",
                        .n_states = 2,
                        .states = {"exp_avg", "exp_avg_sq"},
                        .counts_steps = true,
                        .defaults = {.kind = OPTIMIZER_ADAM, .learning_rate = 0.001f, BETAS},
                        .step = adam_step},
    [OPTIMIZER_ADAMW] = {.flag = "adamw",
                         .name = "AdamW",
                         .n_states = 2,
                         .states = {"exp_avg", "exp_avg_sq"},
                         .counts_steps = true,
                         .defaults = {.kind = OPTIMIZER_ADAMW,
                                      .learning_rate = 0.001f,
                                      .weight_decay = 0.01f,
                                      BETAS},
                         .step = adam_step},
    [OPTIMIZER_RMSPROP] = {.flag = "rmsprop",
                           .name = "RMSprop",
                           .n_states = 1,
                           .states = {"square_avg"},
                           .defaults = {.kind = OPTIMIZER_RMSPROP,
                                        .learning_rate = 0.01f,
                                        .beta2 = 0.99f,
                                        .epsilon = 1e-8f},
                           .step = rmsprop_step},
    [OPTIMIZER_LION] = {.flag = "lion",
                        .name = "Lion",
                        .n_states = 1,
                        .states = {"exp_avg"},
                        .defaults = {.kind = OPTIMIZER_LION,
                                     .learning_rate = 0.0001f,
                                     .beta1 = 0.9f,
                                     .beta2 = 0.99f},
                        .step = lion_step},
};

static bool exists(OptimizerKind kind) { return (unsigned)kind < OPTIMIZER_COUNT; }

const char *optimizer_flag(OptimizerKind kind) {
    return exists(kind) ? optimizer_rules[kind].flag : "?";
}
const char *optimizer_name(OptimizerKind kind) {
    return exists(kind) ? optimizer_rules[kind].name : "?";
}

OptimizerConfig optimizer_defaults(OptimizerKind kind) {
    return exists(kind) ? optimizer_rules[kind].defaults
                        : (OptimizerConfig){.kind = kind, .learning_rate = 0.001f, BETAS};
}

// Refuses what PyTorch refuses, and NaN.
Status optimizer_check_config(OptimizerConfig config) {
    const struct {
        const char *name;
        float value, below; // valid from 0 up to, without, `below`
    } numbers[] = {{"learning_rate", config.learning_rate, INFINITY},
                   {"momentum", config.momentum, INFINITY},
                   {"weight_decay", config.weight_decay, INFINITY},
                   {"beta1", config.beta1, 1.0f},
                   {"beta2", config.beta2, 1.0f},
                   {"epsilon", config.epsilon, INFINITY},
                   {"clip_norm", config.clip_norm, INFINITY}};
    if ((unsigned)config.kind >= OPTIMIZER_COUNT)
        return error_set(STATUS_INVALID_ARGUMENT, "optimizer: there is no kind %d",
                         (int)config.kind);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (!(numbers[i].value >= 0.0f && numbers[i].value < numbers[i].below))
            return error_set(STATUS_INVALID_ARGUMENT,
                             "optimizer: %s is %g. HINT: from 0 %s; optimizer_defaults has the "
                             "usual values",
                             numbers[i].name, (double)numbers[i].value,
                             numbers[i].below == 1.0f ? "to below 1" : "on, and finite");
    return STATUS_OK;
}

OptimizerConfig optimizer_plain(OptimizerConfig config) {
    if (config.kind == OPTIMIZER_MOMENTUM && config.momentum == 0.0f) config.kind = OPTIMIZER_SGD;
    if (config.kind != OPTIMIZER_MOMENTUM) config.momentum = 0.0f;
    return config;
}
