// layer_change.c -- changes to a finished model, by path: finding layers, tying, freezing and
// thawing parameters.
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "layers/parts.h"
#include "tensor/given.h"

// Follows the path through layers; *rest is the remainder: "", or a parameter's name.
static Layer *find(Layer *layer, const char *path, const char **rest) {
    for (;;) {
        size_t length = strcspn(path, ".");
        bool last = path[length] == '\0', named = length > 0 && (last || path[length + 1]);
        Layer *child = named ? layer_child_named(layer, path, length) : NULL;
        *rest = path;
        if (!child) return layer;
        layer = child;
        path += length + !last;
    }
}

Layer *layer_find(Layer *self, const char *path) {
    const char *rest;
    self = path ? layer_here(self) : NULL;
    Layer *found = self ? find(self, path, &rest) : NULL;
    return found && *rest == '\0' ? found : NULL;
}

// ---- ties --------------------------------------------------------------------------------------
static Parameter *find_parameter(Layer *self, const char *path) {
    const char *rest;
    const Layer *layer = find(self, path, &rest);
    for (int i = 0; i < layer->n_parameters; i++)
        if (strcmp(layer->parameters[i].name, rest) == 0) return &layer->parameters[i];
    error_set(STATUS_INVALID_ARGUMENT,
              "layer_tie: there is no parameter \"%s\". HINT: paths are such as fc1.weight", path);
    return NULL;
}

Status layer_tie(Layer *self, const char *path, const char *other_path) {
    if (error_pending()) return error_status();
    self = layer_here(self);
    if (!self || !path || !other_path)
        return error_set(STATUS_INVALID_ARGUMENT, "layer_tie: no %s", self ? "path" : "layer");
    Parameter *one = find_parameter(self, path);
    const Parameter *other = one ? find_parameter(self, other_path) : NULL;
    if (!other) return error_status();
    char shape[SHAPE_TEXT], other_shape[SHAPE_TEXT];
    if (!shape_equal(one->tensor->shape, other->tensor->shape))
        return error_set(STATUS_SHAPE, "layer_tie: %s is %s, and %s is %s", path,
                         shape_text(one->tensor->shape, shape), other_path,
                         shape_text(other->tensor->shape, other_shape));
    Tensor *old = one->tensor;
    one->tensor = tensor_retain(other->tensor);
    tensor_free(old);
    return STATUS_OK;
}

// ---- frozen ------------------------------------------------------------------------------------
enum { MOST_PATH = 256 }; // a longer path is matched by its beginning, or not at all

typedef struct Freezing {
    const char *pattern;
    bool frozen;
    int64_t count;
    char path[MOST_PATH]; // of the layer or parameter at hand
} Freezing;

// Appends a name to the path and matches it with the pattern. *longer: the new length.
static bool means(Freezing *self, size_t length, const char *name, size_t *longer) {
    *longer = length;
    if (length >= MOST_PATH) return false;
    *longer +=
        (size_t)snprintf(self->path + length, MOST_PATH - length, "%s%s", length ? "." : "", name);
    return *longer < MOST_PATH && fnmatch(self->pattern, self->path, 0) == 0;
}

// `meant`: a layer around it matches.
static Status freeze(Freezing *self, const Layer *layer, size_t length, bool meant) {
    size_t longer;
    for (int i = 0; i < layer->n_parameters; i++) {
        const Parameter *parameter = &layer->parameters[i];
        if (!meant && !means(self, length, parameter->name, &longer)) continue;
        Status status = tensor_requires_grad(parameter->tensor, !self->frozen);
        if (status) return status;
        self->count++;
    }
    for (int i = 0; i < layer->n_children; i++) {
        bool all = means(self, length, layer->children[i]->name, &longer) || meant;
        Status status = freeze(self, layer->children[i], longer, all);
        if (status) return status;
    }
    return STATUS_OK;
}

Status layer_freeze(Layer *self, const char *pattern, bool frozen, int64_t *count) {
    if (!GIVEN(count)) return STATUS_INVALID_ARGUMENT;
    *count = 0;
    if (!pattern) return error_set(STATUS_INVALID_ARGUMENT, "layer_freeze: no pattern");
    if (!self) return error_set(STATUS_INVALID_ARGUMENT, "layer_freeze: no layer");
    self = layer_here(self);
    if (!self) return error_status();
    Freezing freezing = {.pattern = pattern, .frozen = frozen};
    Status status = freeze(&freezing, self, 0, pattern[0] == '\0'); // "": the whole model
    *count = freezing.count;
    return status;
}
