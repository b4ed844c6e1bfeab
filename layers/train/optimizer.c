// optimizer.c -- makes an optimizer of a model's parameters, and takes its steps by one-pass ops.
#include "layers/train/optimizer_parts.h"

#include <math.h>

#include "tensor/handle.h"
#include "tensor/memory.h"
#include "tensor/shadow.h"

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
    bool counts = optimizer_rules[self->config.kind].counts_steps;
    self->scalars = tensor_new_as(SHAPE(counts ? 2 : 1), DTYPE_FLOAT32, MEM_STAGING);
    return self->scalars ? tensor_write_floats(self->scalars, start) : error_status();
}

Optimizer *optimizer_new(const Layer *model, OptimizerConfig config) {
    ParameterList list;
    if (optimizer_check_config(config) || layer_parameters(model, &list)) return NULL;
    Optimizer *self = memory_new(sizeof(Optimizer));
    if (self) {
        self->config = config = optimizer_plain(config);
        self->n_states = optimizer_rules[config.kind].n_states;
        if (take_parameters(self, &list)) {
            optimizer_free(self);
            self = NULL;
        }
    }
    parameter_list_free(&list);
    return self;
}

void optimizer_free(Optimizer *self) {
    if (!self || tensor_is_stranger(self->scalars)) return; // belongs outside the dry run
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
    *twin = *self; // shadows replace its tensors
    twin->scalars = tensor_here(self->scalars);
    twin->inputs = memory_new(inputs_bytes(self->count, self->n_states));
    if (!twin->scalars || !twin->inputs) {
        twin_free(twin);
        return NULL;
    }
    return shadow_add(self, twin, twin_free) ? NULL : twin;
}

Optimizer *optimizer_here(Optimizer *self) {
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
    self = optimizer_here(self);
    if (!self) return;
    if (self->config.learning_rate == learning_rate) return;
    OptimizerConfig config = self->config;
    config.learning_rate = learning_rate;
    if (optimizer_check_config(config)) return; // an error is pending; the old rate stays
    self->config.learning_rate = learning_rate;
    Tensor *t = self->scalars; // write only the first number: t belongs to the step op
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
    self = optimizer_here(self);
    if (!self) return error_status();
    int n = 0; // a step's scratch array, here with gradients only
    for (int i = 0; i < self->count; i++) {
        Tensor *grad = tensor_grad(self->parameters[i]);
        if (grad) self->inputs[n++] = grad;
    }
    if (n == 0 && !(max_norm > 0.0f)) // the op would refuse it, too
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
    self = optimizer_here(self);
    if (!self) return error_status();
    const OptimizerConfig *c = &self->config;
    if (c->clip_norm > 0.0f && optimizer_clip_gradients(self, c->clip_norm, NULL))
        return context->error.status;
    int n = gather_groups(self);
    if (n == 0) return STATUS_OK;
    Phase phase = context->phase;
    context->phase = PHASE_OPTIMIZER;
    no_grad_begin();
    Status status = optimizer_rules[c->kind].step(c, self->inputs, n);
    no_grad_end();
    context->phase = phase;
    return status;
}
