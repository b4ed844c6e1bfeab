// layer.c -- code that all layers share: parameters, children, the call of forward.
#include "layers/layer.h"

#include <stdatomic.h>
#include <string.h>

#include "autograd/recompute.h"
#include "layers/map.h"
#include "layers/parts.h"
#include "tensor/given.h"
#include "tensor/memory.h"
#include "tensor/shadow.h"

// Addresses are used again after a layer is freed; a serial never is, in any thread.
static uint64_t next_serial(void) {
    static atomic_ullong last;
    return atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
}

Layer *layer_new(const LayerType *type) {
    if (!type) {
        error_set(STATUS_INVALID_ARGUMENT, "layer_new: no type");
        return NULL;
    }
    Layer *self = memory_new(type->size);
    if (!self) return NULL;
    self->type = type;
    self->training = true;
    self->dry_depth = shadow_depth();
    self->serial = next_serial();
    self->name = memory_copy_string("");
    if (self->name) return self;
    memory_free(self);
    return NULL;
}

Layer *layer_finished(Layer *self) {
    if (!error_pending()) return self;
    layer_free(self);
    return NULL;
}

// ---- parameters, buffers and children ----------------------------------------------------------
// Above this count a map has the names: a child's name leads to the child, that of a parameter or
// buffer to the layer itself.
enum { FEW_NAMES = 16 };

static void forget_names(Layer *self) {
    if (!self->names) return;
    map_clear(self->names);
    memory_free(self->names);
    self->names = NULL;
}

static Status learn_names(Layer *self) {
    if (self->names || self->n_parameters + self->n_buffers + self->n_children <= FEW_NAMES)
        return STATUS_OK;
    self->names = memory_new(sizeof *self->names);
    if (!self->names) return STATUS_OUT_OF_MEMORY;
    self->names->of_texts = true;
    Status status = STATUS_OK;
    for (int i = 0; i < self->n_parameters && !status; i++)
        status = map_add(self->names, self->parameters[i].name, self, NULL);
    for (int i = 0; i < self->n_buffers && !status; i++)
        status = map_add(self->names, self->buffers[i].name, self, NULL);
    for (int i = 0; i < self->n_children && !status; i++)
        status = map_add(self->names, self->children[i]->name, self->children[i], NULL);
    if (status) forget_names(self);
    return status;
}

// Adds the newest name to the map. When out of memory it drops the map; the next name rebuilds it.
static Status know_name(Layer *self, const char *name, Layer *value) {
    if (!self->names || !map_add(self->names, name, value, NULL)) return STATUS_OK;
    forget_names(self);
    return STATUS_OUT_OF_MEMORY;
}

static bool has_name(const Parameter *list, int count, const char *name) {
    for (int i = 0; i < count; i++)
        if (strcmp(list[i].name, name) == 0) return true;
    return false;
}

Layer *layer_child_named(const Layer *self, const char *name, size_t length) {
    if (self->names) {
        Layer *found = map_find_text(self->names, name, length);
        return found == self ? NULL : found;
    }
    for (int i = 0; i < self->n_children; i++) {
        const char *own = self->children[i]->name;
        if (strncmp(own, name, length) == 0 && own[length] == '\0') return self->children[i];
    }
    return NULL;
}

bool layer_has_name(const Layer *self, const char *name) {
    if (self->names) return map_find(self->names, name) != NULL;
    return has_name(self->parameters, self->n_parameters, name) ||
           has_name(self->buffers, self->n_buffers, name) ||
           layer_child_named(self, name, strlen(name)) != NULL;
}

static Status check_name(Layer *self, const char *who, const char *name) {
    if (!name || !name[0] || strchr(name, '.'))
        return error_set(STATUS_INVALID_ARGUMENT,
                         "%s: \"%s\" is no name. HINT: some letters, and no dot: that is between "
                         "the names of a path",
                         who, name ? name : "");
    if (learn_names(self)) return STATUS_OUT_OF_MEMORY;
    if (!layer_has_name(self, name)) return STATUS_OK;
    return error_set(STATUS_INVALID_ARGUMENT,
                     "%s: this %s has a \"%s\" already. HINT: names are what files and reports "
                     "know layers and weights by",
                     who, self->type->name, name);
}

static Status append(Parameter **list, int *count, const char *name, Tensor *tensor) {
    size_t bytes = (size_t)*count * sizeof(Parameter);
    Parameter *grown = memory_resize(*list, bytes, bytes + sizeof(Parameter));
    if (!grown) return STATUS_OUT_OF_MEMORY;
    *list = grown;
    char *copy = memory_copy_string(name);
    if (!copy) return STATUS_OUT_OF_MEMORY;
    grown[(*count)++] = (Parameter){.name = copy, .tensor = tensor};
    return STATUS_OK;
}

// tensor NULL: the call that should have made it left an error pending.
static Status take(Layer *self, const char *who, const char *name, Tensor *tensor, bool trains) {
    self = layer_here(self);
    if (self && tensor && !check_name(self, who, name) &&
        !(trains && tensor_requires_grad(tensor, true)) &&
        !(trains ? append(&self->parameters, &self->n_parameters, name, tensor)
                 : append(&self->buffers, &self->n_buffers, name, tensor)))
        return know_name(self,
                         trains ? self->parameters[self->n_parameters - 1].name
                                : self->buffers[self->n_buffers - 1].name,
                         self);
    tensor_free(tensor);
    if (self || error_pending()) return error_status();
    return error_set(STATUS_INVALID_ARGUMENT, "layer: a tensor was given to no layer (NULL)");
}

Status layer_add_parameter(Layer *self, const char *name, Tensor *tensor) {
    return take(self, "layer_add_parameter", name, tensor, true);
}

Status layer_add_buffer(Layer *self, const char *name, Tensor *tensor) {
    return take(self, "layer_add_buffer", name, tensor, false);
}

Status layer_add_unsaved_buffer(Layer *self, const char *name, Tensor *tensor) {
    if (!GIVEN(tensor)) return STATUS_INVALID_ARGUMENT;
    Status status = layer_add_buffer(self, name, tensor);
    self = status ? NULL : layer_here(self);
    if (self) self->buffers[self->n_buffers - 1].unsaved = true;
    return status;
}

Status layer_tie_parameter(Layer *self, const char *name, Tensor *tensor) {
    return layer_add_parameter(self, name, tensor_retain(tensor));
}

// Refuses a child that has a parent, or that contains self.
static Status check_stranger(const Layer *self, const Layer *child) {
    if (child->parent)
        return error_set(STATUS_STATE,
                         "layer_add_child: this %s is a child already, \"%s\" of a %s. HINT: make "
                         "another one; layer_tie_parameter shares weights",
                         child->type->name, child->name, child->parent->type->name);
    for (const Layer *above = self; above; above = above->parent)
        if (above == child)
            return error_set(STATUS_STATE, "layer_add_child: this %s would contain itself",
                             child->type->name);
    return STATUS_OK;
}

Status layer_add_child(Layer *self, const char *name, Layer *child) {
    if (error_pending()) {
        if (child && !child->parent && child != self) layer_free(child);
        return error_status();
    }
    self = layer_here(self);
    child = layer_here(child);
    if (!self || !child) {
        if (child && !child->parent) layer_free(child);
        return error_set(STATUS_INVALID_ARGUMENT, "layer_add_child: the %s is NULL",
                         self ? "child" : "parent");
    }
    if (check_stranger(self, child)) return error_status();
    if (check_name(self, "layer_add_child", name)) {
        layer_free(child);
        return error_status();
    }
    size_t bytes = (size_t)self->n_children * sizeof(Layer *);
    Layer **grown = memory_resize(self->children, bytes, bytes + sizeof(Layer *));
    if (grown) self->children = grown;
    char *copy = grown ? memory_copy_string(name) : NULL;
    if (!copy) {
        layer_free(child);
        return error_status();
    }
    memory_free(child->name);
    child->name = copy;
    child->parent = self;
    child->place = self->n_children;
    self->children[self->n_children++] = child;
    return know_name(self, copy, child);
}

static void leave_parent(Layer *self) {
    Layer *parent = self->parent;
    if (!parent) return;
    forget_names(parent);
    parent->n_children--;
    for (int at = self->place; at < parent->n_children; at++) {
        parent->children[at] = parent->children[at + 1];
        parent->children[at]->place = at;
    }
    self->parent = NULL;
}

void layer_leave_parent(Layer *self) {
    self = layer_here(self);
    if (self) leave_parent(self);
}

static void free_list(Parameter *list, int count) {
    for (int i = 0; i < count; i++) {
        tensor_free(list[i].tensor);
        memory_free(list[i].name);
    }
    memory_free(list);
}

void layer_drop_state(Layer *self) {
    forget_names(self);
    free_list(self->parameters, self->n_parameters);
    free_list(self->buffers, self->n_buffers);
    self->parameters = self->buffers = NULL;
    self->n_parameters = self->n_buffers = 0;
}

void layer_dismantle(Layer *self) {
    leave_parent(self);
    for (int i = 0; i < self->n_children; i++) {
        self->children[i]->parent = NULL;
        layer_free(self->children[i]);
    }
    layer_drop_state(self);
    layer_recompute_forget(self);
    memory_free(self->children);
    memory_free(self->name);
    memory_free(self);
}

void layer_free(Layer *self) {
    if (!self || self->dry_depth < shadow_depth()) return; // belongs outside the dry run
    leave_parent(self);
    if (self->is_twin) return; // it stays until the run ends
    if (self->type->free) self->type->free(self);
    site_forget(self->serial);
    layer_dismantle(self);
}

// ---- running ---------------------------------------------------------------------------------
static Status check_inputs(const Layer *self, Tensor *const in[], int n_in) {
    int wanted = self->type->n_inputs;
    if (wanted == LAYER_ANY_INPUTS) return STATUS_OK;
    if (wanted == 0) wanted = 1;
    if (n_in != wanted && wanted == 1)
        return error_set(STATUS_INVALID_ARGUMENT, "%s takes one input, got %d", self->type->name,
                         n_in);
    if (n_in != wanted)
        return error_set(STATUS_INVALID_ARGUMENT, "%s takes %d inputs, got %d", self->type->name,
                         wanted, n_in);
    for (int i = 0; i < n_in; i++)
        if (!in || !in[i])
            return error_set(STATUS_INVALID_ARGUMENT, "%s: input %d is NULL", self->type->name, i);
    return STATUS_OK;
}

static int outputs_of(const Layer *self) {
    return self->type->forward_each ? self->type->n_outputs : 1;
}

static Status check_outputs(const Layer *self, int n_out) {
    int given = outputs_of(self);
    if (n_out >= 1 && n_out <= given) return STATUS_OK;
    return error_set(STATUS_INVALID_ARGUMENT, "%s gives %d result%s, not %d", self->type->name,
                     given, given == 1 ? "" : "s", n_out);
}

void layer_run(Layer *self, Tensor *const in[], int n_in, Tensor *out[]) {
    if (self->type->forward_each)
        self->type->forward_each(self, in, n_in, out);
    else
        out[0] = self->type->forward(self, in, n_in);
    for (int i = 0; i < outputs_of(self) && error_pending(); i++) out[i] = NULL;
}

Status layer_forward_each(Layer *self, Tensor *const in[], int n_in, Tensor *out[], int n_out) {
    if (!GIVEN(out)) return STATUS_INVALID_ARGUMENT;
    for (int i = 0; i < n_out; i++) out[i] = NULL;
    if (error_pending()) return error_status();
    if (!self) return error_set(STATUS_INVALID_ARGUMENT, "layer_forward: the layer is NULL");
    self = layer_here(self);
    if (!self) return error_status();
    int outer = site_enter(self->serial, self->name, self->type->name);
    bool fits = !check_inputs(self, in, n_in) && !check_outputs(self, n_out);
    Scope *scope = fits ? scope_open() : NULL;
    if (scope) {
        Tensor *results[LAYER_MAX_OUTPUTS];
        for (int i = 0; i < outputs_of(self); i++) results[i] = NULL;
        if (self->recompute)
            recompute_forward(self->again, in, n_in, results, n_out);
        else
            layer_run(self, in, n_in, results);
        scope_close_with_each(scope, results, n_out);
        for (int i = 0; i < n_out; i++) out[i] = results[i];
    }
    site_leave(outer);
    return error_status();
}

Tensor *layer_forward_many(Layer *self, Tensor *const in[], int n_in) {
    Tensor *out;
    layer_forward_each(self, in, n_in, &out, 1);
    return out;
}

Tensor *layer_forward(Layer *self, Tensor *x) { return layer_forward_many(self, &x, 1); }

void layer_train(Layer *self, bool training) {
    self = layer_here(self);
    if (!self) return;
    self->training = training;
    for (int i = 0; i < self->n_children; i++) layer_train(self->children[i], training);
}
