// optimizer.c -- keeps per-parameter state and calls the one-pass step ops.
#include "layers/train/optimizer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tensor/handle.h"
#include "tensor/memory.h"
#include "tensor/shadow.h"

static const struct {
    const char *flag, *name;
} kinds[OPTIMIZER_COUNT] = {
#define OPTIMIZER_ENTRY(kind, flag, text) [OPTIMIZER_##kind] = {flag, text},
    OPTIMIZER_LIST(OPTIMIZER_ENTRY)
#undef OPTIMIZER_ENTRY
};

const char *optimizer_flag(OptimizerKind kind) {
    return (unsigned)kind < OPTIMIZER_COUNT ? kinds[kind].flag : "?";
}
const char *optimizer_name(OptimizerKind kind) {
    return (unsigned)kind < OPTIMIZER_COUNT ? kinds[kind].name : "?";
}

OptimizerConfig optimizer_defaults(OptimizerKind kind) {
    OptimizerConfig config = {
        .kind = kind, .learning_rate = 0.001f, .beta1 = 0.9f, .beta2 = 0.999f, .epsilon = 1e-8f};
    if (kind == OPTIMIZER_SGD) config.learning_rate = 0.1f;
    if (kind == OPTIMIZER_MOMENTUM) {
        config.learning_rate = 0.05f;
        config.momentum = 0.9f;
    }
    if (kind == OPTIMIZER_ADAMW) config.weight_decay = 0.01f;
    return config;
}

struct Optimizer {
    OptimizerConfig config;
    Tensor **parameters; // borrowed
    Tensor **states;     // count x n_states, owned
    Tensor *
        *inputs; // of one step op: scalars, then {p, g, states...} of parameters with a gradient
    int count, n_states, state_count;
    Tensor *scalars; // {learning rate (, t)}: what a step op reads; staged from the host
};

static int states_of(OptimizerKind kind) {
    return kind == OPTIMIZER_SGD ? 0 : kind == OPTIMIZER_MOMENTUM ? 1 : 2;
}

static Tensor *zeros_like(const Tensor *parameter) {
    Tensor *t = tensor_new_as(parameter->shape, DTYPE_FLOAT32, MEM_OPTIMIZER);
    return tensor_filled(t, tensor_fill(t, 0.0f));
}

static size_t inputs_bytes(int parameters, int states) {
    return (1 + (size_t)parameters * (size_t)(2 + states)) * sizeof(Tensor *);
}

static Status take_parameters(Optimizer *self, const ParameterList *list) {
    size_t n = (size_t)list->count, states = (size_t)self->n_states;
    self->parameters = memory_new(n * sizeof(Tensor *));
    self->states = memory_new(n * states * sizeof(Tensor *));
    self->inputs = memory_new(inputs_bytes(list->count, self->n_states));
    if (!self->parameters || !self->states || !self->inputs) return STATUS_OUT_OF_MEMORY;
    for (int i = 0; i < list->count; i++) {
        Tensor *parameter = list->items[i].tensor;
        if (!(parameter->flags & TENSOR_LEAF_GRAD)) continue; // frozen
        for (int k = 0; k < self->n_states; k++) {
            Tensor *state = zeros_like(parameter);
            if (!state) return error_status();
            self->states[self->state_count++] = state;
        }
        self->parameters[self->count++] = parameter;
    }
    float start[2] = {self->config.learning_rate, 0.0f};
    bool adam = self->n_states == 2;
    self->scalars = tensor_new_as(SHAPE(adam ? 2 : 1), DTYPE_FLOAT32, MEM_STAGING);
    return self->scalars ? tensor_write_floats(self->scalars, start) : error_status();
}

// What PyTorch refuses, too; NaN is no number for any of them.
static Status check_config(OptimizerConfig config) {
    const struct {
        const char *name;
        float value, below; // from 0, and less than that
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

// Momentum 0 is SGD, and SGD has none: the step op tells the two by this number.
static OptimizerConfig plain(OptimizerConfig config) {
    if (config.kind == OPTIMIZER_MOMENTUM && config.momentum == 0.0f) config.kind = OPTIMIZER_SGD;
    if (config.kind != OPTIMIZER_MOMENTUM) config.momentum = 0.0f;
    return config;
}

Optimizer *optimizer_new(const Layer *model, OptimizerConfig config) {
    ParameterList list;
    if (check_config(config) || layer_parameters(model, &list)) return NULL;
    Optimizer *self = memory_new(sizeof(Optimizer));
    if (self) {
        self->config = config = plain(config);
        self->n_states = states_of(config.kind);
        if (take_parameters(self, &list)) {
            optimizer_free(self);
            self = NULL;
        }
    }
    parameter_list_free(&list);
    return self;
}

void optimizer_free(Optimizer *self) {
    if (!self || tensor_is_stranger(self->scalars)) return; // somebody else's, in a dry run
    for (int i = 0; i < self->state_count; i++) tensor_free(self->states[i]);
    tensor_free(self->scalars);
    memory_free(self->parameters);
    memory_free(self->states);
    memory_free(self->inputs);
    memory_free(self);
}

// ---- dry runs --------------------------------------------------------------------------------
static void twin_free(void *twin) {
    memory_free(((Optimizer *)twin)->inputs);
    memory_free(twin);
}

static Optimizer *twin_of(const Optimizer *self) {
    Optimizer *twin = memory_new(sizeof(Optimizer));
    if (!twin) return NULL;
    *twin = *self; // its tensors are met by theirs
    twin->scalars = tensor_here(self->scalars);
    twin->inputs = memory_new(inputs_bytes(self->count, self->n_states));
    if (!twin->scalars || !twin->inputs) {
        twin_free(twin);
        return NULL;
    }
    return shadow_add(self, twin, twin_free) ? NULL : twin;
}

// What stands for an optimizer that comes in from outside of a dry run. NULL: an error is pending.
static Optimizer *here(Optimizer *self) {
    if (!self) {
        error_set(STATUS_INVALID_ARGUMENT, "optimizer: there is none (NULL)");
        return NULL;
    }
    Tensor *scalars = tensor_here(self->scalars);
    if (scalars == self->scalars) return self;
    Optimizer *twin = shadow_find(self);
    return twin ? twin : twin_of(self);
}

// ---- a step ----------------------------------------------------------------------------------
void optimizer_zero_grad(Optimizer *self) {
    if (!self) error_set(STATUS_INVALID_ARGUMENT, "optimizer: there is none (NULL)");
    for (int i = 0; self && i < self->count; i++) tensor_zero_grad(self->parameters[i]);
}

void optimizer_set_learning_rate(Optimizer *self, float learning_rate) {
    self = here(self);
    if (!self) return;
    if (self->config.learning_rate == learning_rate) return;
    OptimizerConfig config = self->config;
    config.learning_rate = learning_rate;
    if (check_config(config)) return; // pending; the old one stays
    self->config.learning_rate = learning_rate;
    Tensor *t = self->scalars; // only the first number: t belongs to the step op
    if (t->device->has_data)
        device_from_host(t->device, t->storage->data, &learning_rate, sizeof(float));
}

static int gather_groups(Optimizer *self) {
    int n = 0, period = 2 + self->n_states;
    self->inputs[0] = self->scalars;
    for (int i = 0; i < self->count; i++) {
        Tensor *grad = tensor_grad(self->parameters[i]);
        if (!grad) continue; // took no part in this loss
        Tensor **group = self->inputs + 1 + n++ * period;
        group[0] = self->parameters[i];
        group[1] = grad;
        for (int k = 0; k < self->n_states; k++)
            group[2 + k] = self->states[i * self->n_states + k];
    }
    return n;
}

Status optimizer_clip_gradients(Optimizer *self, float max_norm, double *norm) {
    Context *context = context_current();
    if (norm) *norm = (double)NAN;
    if (context->error.status) return context->error.status;
    self = here(self);
    if (!self) return error_status();
    int n = 0; // the scratch of a step holds the gradients alone, for now
    for (int i = 0; i < self->count; i++) {
        Tensor *grad = tensor_grad(self->parameters[i]);
        if (grad) self->inputs[n++] = grad;
    }
    if (n == 0 && !(max_norm > 0.0f)) // which the op would say, too
        return error_set(STATUS_INVALID_ARGUMENT,
                         "clip_norm: the largest norm is %g. HINT: above 0", (double)max_norm);
    if (n == 0) return STATUS_OK;
    Phase phase = context->phase;
    context->phase = PHASE_OPTIMIZER;
    no_grad_begin();
    Scope *scope = scope_open();
    Tensor *before = scope ? tensor_clip_norm(self->inputs, n, max_norm) : NULL;
    if (before && norm && before->device->has_data) *norm = tensor_item(before);
    scope_close(scope);
    no_grad_end();
    context->phase = phase;
    return error_status();
}

Status optimizer_step(Optimizer *self) {
    Context *context = context_current();
    if (context->error.status) return context->error.status;
    self = here(self);
    if (!self) return error_status();
    const OptimizerConfig *c = &self->config;
    if (c->clip_norm > 0.0f && optimizer_clip_gradients(self, c->clip_norm, NULL))
        return context->error.status;
    int n = gather_groups(self);
    if (n == 0) return STATUS_OK;
    Phase phase = context->phase;
    context->phase = PHASE_OPTIMIZER;
    no_grad_begin();
    Status status;
    if (self->n_states == 2) {
        AdamParams params = {c->beta1, c->beta2, c->epsilon, c->weight_decay,
                             c->kind == OPTIMIZER_ADAMW};
        status = tensor_adam_step(self->inputs, n, params);
    } else {
        status = tensor_sgd_step(self->inputs, n,
                                 (SgdParams){c->momentum, c->weight_decay, c->nesterov});
    }
    no_grad_end();
    context->phase = phase;
    return status;
}

// ---- resume ----------------------------------------------------------------------------------
enum { MOST_STEPS = 1 << 24 }; // that the float t tells apart

OptimizerConfig optimizer_config(const Optimizer *self) {
    self = here((Optimizer *)self);
    return self ? self->config : (OptimizerConfig){0};
}

// Adds a parameter's states.
static Status list_states(const Optimizer *self, int parameter, const char *path,
                          ParameterList *list) {
    static const char *const names[OPTIMIZER_COUNT][2] = {
        [OPTIMIZER_MOMENTUM] = {"momentum_buffer"},
        [OPTIMIZER_ADAM] = {"exp_avg", "exp_avg_sq"},
        [OPTIMIZER_ADAMW] = {"exp_avg", "exp_avg_sq"}};
    for (int k = 0; k < self->n_states; k++) {
        const char *name = names[self->config.kind][k];
        size_t size = strlen(path) + strlen(name) + 2;
        ParameterEntry *entry = &list->items[list->count];
        entry->path = memory_new(size);
        if (!entry->path) return STATUS_OUT_OF_MEMORY;
        snprintf(entry->path, size, "%s.%s", path, name);
        entry->tensor = tensor_here(self->states[parameter * self->n_states + k]);
        list->count++;
    }
    return STATUS_OK;
}

static int index_of(const Optimizer *self, const Tensor *parameter) {
    for (int i = 0; i < self->count; i++)
        if (tensor_here(self->parameters[i]) == parameter) return i;
    return -1;
}

Status optimizer_state(const Optimizer *self, const Layer *model, ParameterList *list) {
    ParameterList all;
    *list = (ParameterList){0};
    self = here((Optimizer *)self);
    if (!self || layer_parameters(model, &all)) return error_status();
    list->items = memory_new(((size_t)self->state_count + 1) * sizeof(ParameterEntry));
    Status status = list->items ? STATUS_OK : STATUS_OUT_OF_MEMORY;
    int found = 0;
    for (int i = 0; i < all.count && !status; i++) {
        int parameter = index_of(self, all.items[i].tensor);
        found += parameter >= 0;
        if (parameter >= 0) status = list_states(self, parameter, all.items[i].path, list);
    }
    if (!status && found < self->count)
        status = error_set(STATUS_STATE,
                           "optimizer_state: %d of its parameters are not this model's. HINT: an "
                           "optimizer is of one model, made when that was complete",
                           self->count - found);
    parameter_list_free(&all);
    if (status) parameter_list_free(list);
    return status;
}

int64_t optimizer_steps(const Optimizer *self) {
    float scalars[2] = {0.0f, 0.0f};
    self = here((Optimizer *)self);
    if (!self) return -1;
    if (self->n_states < 2 || !self->scalars->device->has_data) return 0;
    return tensor_read_floats(self->scalars, scalars) ? -1 : (int64_t)scalars[1];
}

Status optimizer_check_restore(const Optimizer *self, OptimizerConfig config, int64_t steps) {
    self = here((Optimizer *)self);
    if (!self || check_config(config)) return error_status();
    config = plain(config);
    if (config.kind != self->config.kind)
        return error_set(STATUS_INVALID_ARGUMENT,
                         "optimizer_restore: the state is that of %s, this one is %s. HINT: "
                         "the same kind, and momentum above 0 where it has one",
                         optimizer_name(config.kind), optimizer_name(self->config.kind));
    if (steps >= 0 && steps <= MOST_STEPS) return STATUS_OK;
    return error_set(STATUS_INVALID_ARGUMENT, "optimizer_restore: %lld steps. HINT: 0 to %d",
                     (long long)steps, MOST_STEPS);
}

Status optimizer_restore(Optimizer *self, OptimizerConfig config, int64_t steps) {
    if (error_pending() || optimizer_check_restore(self, config, steps)) return error_status();
    self = here(self);
    const float scalars[2] = {config.learning_rate, (float)steps};
    self->config = plain(config);
    if (!self->scalars->device->has_data) return STATUS_OK;
    return tensor_write_floats(self->scalars, scalars);
}
