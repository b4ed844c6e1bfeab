// optimizer_resume.c -- lists an optimizer's state under its parameters' paths, and restores it.
#include <stdio.h>
#include <string.h>

#include "layers/train/optimizer_parts.h"
#include "tensor/given.h"
#include "tensor/memory.h"
#include "tensor/shadow.h"

enum { MOST_STEPS = 1 << 24 }; // the largest that float t counts exactly

OptimizerConfig optimizer_config(const Optimizer *self) {
    self = optimizer_here((Optimizer *)self);
    return self ? self->config : (OptimizerConfig){0};
}

// Adds a parameter's states.
static Status list_states(const Optimizer *self, int parameter, const char *path,
                          ParameterList *list) {
    for (int k = 0; k < self->n_states; k++) {
        const char *name = optimizer_rules[self->config.kind].states[k];
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
    if (!GIVEN(list)) return STATUS_INVALID_ARGUMENT;
    ParameterList all;
    *list = (ParameterList){0};
    self = optimizer_here((Optimizer *)self);
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
    self = optimizer_here((Optimizer *)self);
    if (!self) return -1;
    if (!optimizer_rules[self->config.kind].counts_steps || !self->scalars->device->has_data)
        return 0;
    return tensor_read_floats(self->scalars, scalars) ? -1 : (int64_t)scalars[1];
}

Status optimizer_check_restore(const Optimizer *self, OptimizerConfig config, int64_t steps) {
    self = optimizer_here((Optimizer *)self);
    if (!self || optimizer_check_config(config)) return error_status();
    config = optimizer_plain(config);
    if (config.kind != self->config.kind)
        return error_set(STATUS_INVALID_ARGUMENT,
                         "optimizer_restore: the state is that of %s, this one is %s. HINT: "
                         "the same kind (--optimizer %s), and momentum above 0 where it has one",
                         optimizer_name(config.kind), optimizer_name(self->config.kind),
                         optimizer_flag(config.kind));
    if (steps >= 0 && steps <= MOST_STEPS) return STATUS_OK;
    return error_set(STATUS_INVALID_ARGUMENT, "optimizer_restore: %lld steps. HINT: 0 to %d",
                     (long long)steps, MOST_STEPS);
}

Status optimizer_restore(Optimizer *self, OptimizerConfig config, int64_t steps) {
    if (error_pending() || optimizer_check_restore(self, config, steps)) return error_status();
    self = optimizer_here(self);
    const float scalars[2] = {config.learning_rate, (float)steps};
    self->config = optimizer_plain(config);
    if (!self->scalars->device->has_data) return STATUS_OK;
    return tensor_write_floats(self->scalars, scalars);
}
