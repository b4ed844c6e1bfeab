// layer.c -- what all layers share: parameters, children, the call of forward.
#include "layers/layer.h"

#include <stdio.h>
#include <string.h>

#include "tensor/memory.h"
#include "tensor/shadow.h"

Layer *layer_new(const LayerType *type) {
    Layer *self = memory_new(type->size);
    if (!self) return NULL;
    self->type = type;
    self->training = true;
    self->dry_depth = shadow_depth();
    self->name = memory_copy_string("");
    if (self->name) return self;
    memory_free(self);
    return NULL;
}

Status layer_add_parameter(Layer *self, const char *name, Tensor *tensor) {
    if (!tensor) return error_status();
    size_t bytes = (size_t)self->n_parameters * sizeof(Parameter);
    Parameter *grown = memory_resize(self->parameters, bytes, bytes + sizeof(Parameter));
    if (grown) self->parameters = grown;
    char *copy = grown ? memory_copy_string(name) : NULL;
    if (!copy || tensor_requires_grad(tensor, true)) {
        memory_free(copy);
        tensor_free(tensor);
        return error_status();
    }
    self->parameters[self->n_parameters++] = (Parameter){.name = copy, .tensor = tensor};
    return STATUS_OK;
}

Status layer_tie_parameter(Layer *self, const char *name, Tensor *tensor) {
    return layer_add_parameter(self, name, tensor_retain(tensor));
}

// Why the child cannot come here and stays whose it is.
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

static Status check_name(const Layer *self, const char *name) {
    if (!name || !name[0] || strchr(name, '.'))
        return error_set(STATUS_INVALID_ARGUMENT,
                         "layer_add_child: \"%s\" is no name. HINT: some letters, and no dot: that "
                         "is between the names of a path",
                         name ? name : "");
    for (int i = 0; i < self->n_children; i++)
        if (strcmp(self->children[i]->name, name) == 0)
            return error_set(STATUS_INVALID_ARGUMENT,
                             "layer_add_child: this %s has a child \"%s\" already. HINT: names are "
                             "what files and reports know layers by",
                             self->type->name, name);
    return STATUS_OK;
}

Status layer_add_child(Layer *self, const char *name, Layer *child) {
    if (error_pending()) {
        if (child && !child->parent && child != self) layer_free(child);
        return error_status();
    }
    if (!self || !child)
        return error_set(STATUS_INVALID_ARGUMENT, "layer_add_child: the %s is NULL",
                         self ? "child" : "parent");
    if (check_stranger(self, child)) return error_status();
    if (check_name(self, name)) {
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
    self->children[self->n_children++] = child;
    return STATUS_OK;
}

static void leave_parent(Layer *self) {
    Layer *parent = self->parent;
    if (!parent) return;
    int at = 0;
    while (parent->children[at] != self) at++;
    parent->n_children--;
    for (; at < parent->n_children; at++) parent->children[at] = parent->children[at + 1];
}

void layer_free(Layer *self) {
    if (!self) return;
    leave_parent(self);
    if (self->type->free) self->type->free(self);
    for (int i = 0; i < self->n_children; i++) {
        self->children[i]->parent = NULL;
        layer_free(self->children[i]);
    }
    for (int i = 0; i < self->n_parameters; i++) {
        tensor_free(self->parameters[i].tensor);
        memory_free(self->parameters[i].name);
    }
    memory_free(self->children);
    memory_free(self->parameters);
    memory_free(self->name);
    memory_free(self);
}

Tensor *layer_forward_many(Layer *self, Tensor *const in[], int n_in) {
    if (error_pending()) return NULL;
    if (!self || (n_in == 1 && !in[0])) {
        error_set(STATUS_INVALID_ARGUMENT, "layer_forward: %s is NULL",
                  self ? "the input" : "the layer");
        return NULL;
    }
    self = layer_here(self);
    if (!self) return NULL;
    int outer = site_enter(self, self->name, self->type->name);
    Scope *scope = scope_open();
    Tensor *out = scope ? self->type->forward(self, in, n_in) : NULL;
    out = scope_close_with(scope, out);
    site_leave(outer);
    return out;
}

Tensor *layer_forward(Layer *self, Tensor *x) { return layer_forward_many(self, &x, 1); }

void layer_train(Layer *self, bool training) {
    self = layer_here(self);
    if (!self) return;
    self->training = training;
    for (int i = 0; i < self->n_children; i++) layer_train(self->children[i], training);
}

static int count_layers(const Layer *self) {
    int count = 1;
    for (int i = 0; i < self->n_children; i++) count += count_layers(self->children[i]);
    return count;
}

static void walk_modes(Layer *self, LayerModes *modes, int most, bool save) {
    if (modes->count == most) return; // a layer that came later
    bool *mode = &modes->training[modes->count++];
    if (save)
        *mode = self->training;
    else
        self->training = *mode;
    for (int i = 0; i < self->n_children; i++) walk_modes(self->children[i], modes, most, save);
}

Status layer_modes_save(const Layer *self, LayerModes *modes) {
    modes->count = 0;
    self = layer_here((Layer *)self);
    if (!self) return error_status();
    int layers = count_layers(self);
    modes->training = memory_new((size_t)layers * sizeof(bool));
    if (!modes->training) return STATUS_OUT_OF_MEMORY;
    walk_modes((Layer *)self, modes, layers, true); // only reads
    return STATUS_OK;
}

void layer_modes_restore(Layer *self, LayerModes *modes) {
    self = layer_here(self);
    if (!modes->training || !self) return;
    int layers = modes->count;
    modes->count = 0;
    walk_modes(self, modes, layers, false);
    memory_free(modes->training);
    *modes = (LayerModes){0};
}

// ---- parameters ------------------------------------------------------------------------------
static bool listed(const ParameterList *list, const Tensor *tensor) {
    for (int i = 0; i < list->count; i++)
        if (list->items[i].tensor == tensor) return true;
    return false;
}

static Status append(ParameterList *list, const char *prefix, const Parameter *parameter) {
    size_t bytes = (size_t)list->count * sizeof(ParameterEntry);
    ParameterEntry *grown = memory_resize(list->items, bytes, bytes + sizeof(ParameterEntry));
    if (!grown) return STATUS_OUT_OF_MEMORY;
    list->items = grown;
    size_t length = strlen(prefix) + strlen(parameter->name) + 2;
    char *path = memory_new(length);
    if (!path) return STATUS_OUT_OF_MEMORY;
    snprintf(path, length, "%s%s%s", prefix, prefix[0] ? "." : "", parameter->name);
    list->items[list->count++] = (ParameterEntry){.path = path, .tensor = parameter->tensor};
    return STATUS_OK;
}

static Status collect(const Layer *self, const char *prefix, ParameterList *list) {
    for (int i = 0; i < self->n_parameters; i++)
        if (!listed(list, self->parameters[i].tensor) && append(list, prefix, &self->parameters[i]))
            return STATUS_OUT_OF_MEMORY;
    for (int i = 0; i < self->n_children; i++) {
        const Layer *child = self->children[i];
        size_t length = strlen(prefix) + strlen(child->name) + 2;
        char *path = memory_new(length);
        if (!path) return STATUS_OUT_OF_MEMORY;
        snprintf(path, length, "%s%s%s", prefix, prefix[0] ? "." : "", child->name);
        Status status = collect(child, path, list);
        memory_free(path);
        if (status) return status;
    }
    return STATUS_OK;
}

Status layer_parameters(const Layer *self, ParameterList *list) {
    *list = (ParameterList){0};
    if (!self) return error_set(STATUS_INVALID_ARGUMENT, "layer_parameters: no layer");
    self = layer_here((Layer *)self);
    if (!self) return error_status();
    Status status = collect(self, "", list);
    if (status) parameter_list_free(list);
    return status;
}

void parameter_list_free(ParameterList *list) {
    for (int i = 0; i < list->count; i++) memory_free(list->items[i].path);
    memory_free(list->items);
    *list = (ParameterList){0};
}

static int64_t count(const Layer *self, bool trainable_only) {
    ParameterList list;
    if (layer_parameters(self, &list)) return -1;
    int64_t total = 0;
    for (int i = 0; i < list.count; i++) {
        const Tensor *t = list.items[i].tensor;
        if (!trainable_only || (t->flags & TENSOR_LEAF_GRAD)) total += t->numel;
    }
    parameter_list_free(&list);
    return total;
}

int64_t layer_parameter_count(const Layer *self) { return count(self, false); }
int64_t layer_trainable_count(const Layer *self) { return count(self, true); }

int64_t layer_own_parameter_count(const Layer *self) {
    int64_t total = 0;
    for (int i = 0; i < self->n_parameters; i++) total += self->parameters[i].tensor->numel;
    return total;
}

// ---- attributes ------------------------------------------------------------------------------
bool layer_attribute(const Layer *self, const char *name, int64_t *value) {
    for (int i = 0; i < self->type->n_attributes; i++) {
        const LayerAttribute *a = &self->type->attributes[i];
        const void *at = (const char *)self + a->offset;
        if (strcmp(a->name, name) != 0 || a->kind == ATTRIBUTE_REAL) continue;
        if (a->kind == ATTRIBUTE_INTEGER) *value = *(const int64_t *)at;
        if (a->kind == ATTRIBUTE_FLAG) *value = *(const bool *)at;
        if (a->kind == ATTRIBUTE_ACTIVATION) *value = *(const Activation *)at;
        return true;
    }
    return false;
}

char *layer_attributes_text(const Layer *self, char *text, size_t size) {
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < self->type->n_attributes && used < size; i++) {
        const LayerAttribute *a = &self->type->attributes[i];
        const void *at = (const char *)self + a->offset;
        char value[48] = "?";
        switch (a->kind) {
        case ATTRIBUTE_INTEGER:
            snprintf(value, sizeof(value), "%lld", (long long)*(const int64_t *)at);
            break;
        case ATTRIBUTE_REAL:
            snprintf(value, sizeof(value), "%g", (double)*(const float *)at);
            break;
        case ATTRIBUTE_FLAG:
            snprintf(value, sizeof(value), "%s", *(const bool *)at ? "true" : "false");
            break;
        case ATTRIBUTE_ACTIVATION:
            snprintf(value, sizeof(value), "%s", activation_name(*(const Activation *)at));
            break;
        }
        int n = snprintf(text + used, size - used, "%s%s=%s", i ? ", " : "", a->name, value);
        used += n > 0 ? (size_t)n : 0;
    }
    return text;
}
