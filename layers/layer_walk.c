// layer_walk.c -- lists of what a layer and all below it have: parameters, buffers, attributes;
// also prints the tree. Nothing here changes a layer.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "layers/layer.h"
#include "layers/map.h"
#include "tensor/given.h"
#include "tensor/memory.h"
#include "tensor/op.h"

// ---- parameters and buffers --------------------------------------------------------------------
// Joins "fc1.weight"; NULL: out of memory.
static char *join(const char *prefix, const char *name) {
    size_t length = strlen(prefix) + strlen(name) + 2;
    char *path = memory_new(length);
    if (path) snprintf(path, length, "%s%s%s", prefix, prefix[0] ? "." : "", name);
    return path;
}

static Status append(ParameterList *list, const char *prefix, const Parameter *parameter,
                     bool is_buffer) {
    if ((list->count & (list->count - 1)) == 0) { // full: capacities are powers of two
        size_t bytes = (size_t)list->count * sizeof(ParameterEntry);
        ParameterEntry *grown =
            memory_resize(list->items, bytes, bytes ? 2 * bytes : sizeof(ParameterEntry));
        if (!grown) return STATUS_OUT_OF_MEMORY;
        list->items = grown;
    }
    char *path = join(prefix, parameter->name);
    if (!path) return STATUS_OUT_OF_MEMORY;
    list->items[list->count++] = (ParameterEntry){path, parameter->tensor, is_buffer};
    return STATUS_OK;
}

// `met`: set of parameters already listed, to list each once. NULL: lists the state, with buffers,
// and tied ones under every path.
static Status collect(const Layer *self, const char *prefix, Map *met, ParameterList *list) {
    const bool state = met == NULL;
    for (int i = 0; i < self->n_parameters; i++) {
        const Parameter *parameter = &self->parameters[i];
        bool is_new = true;
        if (met && map_add(met, parameter->tensor, NULL, &is_new)) return STATUS_OUT_OF_MEMORY;
        if (is_new && append(list, prefix, parameter, false)) return STATUS_OUT_OF_MEMORY;
    }
    for (int i = 0; state && i < self->n_buffers; i++)
        if (!self->buffers[i].unsaved && append(list, prefix, &self->buffers[i], true))
            return STATUS_OUT_OF_MEMORY;
    for (int i = 0; i < self->n_children; i++) {
        char *path = join(prefix, self->children[i]->name);
        if (!path) return STATUS_OUT_OF_MEMORY;
        Status status = collect(self->children[i], path, met, list);
        memory_free(path);
        if (status) return status;
    }
    return STATUS_OK;
}

static Status walk(const Layer *self, const char *who, bool state, ParameterList *list) {
    *list = (ParameterList){0};
    if (!self) return error_set(STATUS_INVALID_ARGUMENT, "%s: no layer", who);
    self = layer_here((Layer *)self);
    if (!self) return error_status();
    Map met = {0};
    Status status = collect(self, "", state ? NULL : &met, list);
    map_clear(&met);
    if (status) parameter_list_free(list);
    return status;
}

Status layer_parameters(const Layer *self, ParameterList *list) {
    if (!GIVEN(list)) return STATUS_INVALID_ARGUMENT;
    return walk(self, "layer_parameters", false, list);
}

Status layer_state(const Layer *self, ParameterList *list) {
    if (!GIVEN(list)) return STATUS_INVALID_ARGUMENT;
    return walk(self, "layer_state", true, list);
}

void parameter_list_free(ParameterList *list) {
    if (!list) return;
    for (int i = 0; i < list->count; i++) memory_free(list->items[i].path);
    memory_free(list->items);
    *list = (ParameterList){0};
}

// True if the tensor is also a parameter before `one`, in the order of the list.
static bool tied_before(const Layer *layer, const Parameter *one, bool *reached) {
    for (int i = 0; i < layer->n_parameters && !*reached; i++) {
        *reached = &layer->parameters[i] == one;
        if (!*reached && layer->parameters[i].tensor == one->tensor) return true;
    }
    for (int i = 0; i < layer->n_children && !*reached; i++)
        if (tied_before(layer->children[i], one, reached)) return true;
    return false;
}

static int64_t count_below(const Layer *root, const Layer *layer, bool trainable_only) {
    int64_t total = 0;
    for (int i = 0; i < layer->n_parameters; i++) {
        const Tensor *t = layer->parameters[i].tensor;
        bool reached = false;
        if (trainable_only && !(t->flags & TENSOR_LEAF_GRAD)) continue;
        if (t->references > 1 && tied_before(root, &layer->parameters[i], &reached)) continue;
        total += t->numel;
    }
    for (int i = 0; i < layer->n_children; i++)
        total += count_below(root, layer->children[i], trainable_only);
    return total;
}

// Counts without a list, so that counting needs no memory.
static int64_t count(const Layer *self, const char *who, bool trainable_only) {
    if (!self) error_set(STATUS_INVALID_ARGUMENT, "%s: no layer", who);
    self = self ? layer_here((Layer *)self) : NULL;
    return self ? count_below(self, self, trainable_only) : -1;
}

int64_t layer_parameter_count(const Layer *self) {
    return count(self, "layer_parameter_count", false);
}
int64_t layer_trainable_count(const Layer *self) {
    return count(self, "layer_trainable_count", true);
}

int64_t layer_own_parameter_count(const Layer *self) {
    int64_t total = 0;
    if (!self) error_set(STATUS_INVALID_ARGUMENT, "layer_own_parameter_count: no layer");
    for (int i = 0; self && i < self->n_parameters; i++) total += self->parameters[i].tensor->numel;
    return total;
}

// ---- attributes ------------------------------------------------------------------------------
static const Op *activation_at(const void *at) { return *(const Op *const *)at; }

static bool is_integer(const LayerAttribute *a) {
    return a->kind == ATTRIBUTE_INTEGER || a->kind == ATTRIBUTE_NAMELESS;
}

bool layer_attribute(const Layer *self, const char *name, int64_t *value) {
    for (int i = 0; self && name && i < self->type->n_attributes; i++) {
        const LayerAttribute *a = &self->type->attributes[i];
        const void *at = (const char *)self + a->offset;
        if (strcmp(a->name, name) != 0 || a->kind == ATTRIBUTE_REAL) continue;
        if (is_integer(a)) *value = *(const int64_t *)at;
        if (a->kind == ATTRIBUTE_FLAG) *value = *(const bool *)at;
        if (a->kind == ATTRIBUTE_ACTIVATION) *value = activation_at(at) ? activation_at(at)->id : 0;
        return true;
    }
    return false;
}

static void real_text(float value, bool as_pytorch, char text[48]) {
    snprintf(text, 48, "%g", (double)value);
    if (as_pytorch && !strpbrk(text, ".en")) strcat(text, ".0");
}

static void value_text(const LayerAttribute *a, const void *at, bool as_pytorch, char text[48]) {
    if (is_integer(a))
        snprintf(text, 48, "%lld", (long long)*(const int64_t *)at);
    else if (a->kind == ATTRIBUTE_REAL && as_pytorch && isnan(*(const float *)at))
        snprintf(text, 48, "None");
    else if (a->kind == ATTRIBUTE_REAL)
        real_text(*(const float *)at, as_pytorch, text);
    else if (a->kind == ATTRIBUTE_FLAG && as_pytorch)
        snprintf(text, 48, "%s", *(const bool *)at ? "True" : "False");
    else if (a->kind == ATTRIBUTE_FLAG)
        snprintf(text, 48, "%s", *(const bool *)at ? "true" : "false");
    else
        snprintf(text, 48, "%s", activation_at(at) ? activation_at(at)->name : "none");
}

// as_pytorch: writes True, False and None, and omits an activation that is not fused.
static char *attributes_text(const Layer *self, bool as_pytorch, char *text, size_t size) {
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; self && i < self->type->n_attributes && used < size; i++) {
        const LayerAttribute *a = &self->type->attributes[i];
        const void *at = (const char *)self + a->offset;
        char value[48];
        bool fused = a->kind != ATTRIBUTE_ACTIVATION || activation_at(at);
        if (as_pytorch && !fused) continue;
        value_text(a, at, as_pytorch, value);
        bool named = !as_pytorch || a->kind != ATTRIBUTE_NAMELESS;
        int n = snprintf(text + used, size - used, "%s%s%s%s", used ? ", " : "",
                         named ? a->name : "", named ? "=" : "", value);
        used += n > 0 ? (size_t)n : 0;
    }
    return text;
}

char *layer_attributes_text(const Layer *self, char *text, size_t size) {
    if (!GIVEN(text)) return NULL;
    return attributes_text(self, false, text, size);
}

// ---- printing --------------------------------------------------------------------------------
static void print(const Layer *self, int depth, FILE *file) {
    char text[512];
    if (self->type->printed) {
        fputs(self->type->printed, file);
        return;
    }
    fprintf(file, "%s(", self->type->name);
    if (self->type->print)
        self->type->print(self, file);
    else
        fputs(attributes_text(self, true, text, sizeof(text)), file);
    for (int i = 0; i < self->n_children; i++) {
        fprintf(file, "\n%*s(%s): ", 2 * depth + 2, "", self->children[i]->name);
        print(self->children[i], depth + 1, file);
    }
    if (self->n_children > 0) fprintf(file, "\n%*s", 2 * depth, "");
    fputc(')', file);
}

Status layer_print(const Layer *self, FILE *file) {
    if (error_pending()) return error_status();
    if (!self) return error_set(STATUS_INVALID_ARGUMENT, "layer_print: no layer");
    if (!file) return error_set(STATUS_INVALID_ARGUMENT, "layer_print: no file");
    print(self, 0, file);
    fputc('\n', file);
    if (fflush(file) == 0 && !ferror(file)) return STATUS_OK;
    return error_set(STATUS_IO, "layer_print: the model could not be written. HINT: is the disk "
                                "full, or the reader gone?");
}
