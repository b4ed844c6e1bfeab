// layer_change.c -- what changes a model that is made already, by path: a layer is found,
// parameters are tied, frozen and thawed.
#include <fnmatch.h>
#include <string.h>

#include "layers/layer.h"

// What of the path lies behind this layer's name; NULL: it is not on the path.
static const char *below(const Layer *layer, const char *path) {
    size_t length = strlen(layer->name);
    if (strncmp(path, layer->name, length) != 0) return NULL;
    if (path[length] == '.' && path[length + 1]) return path + length + 1;
    return path[length] == '\0' ? path + length : NULL;
}

// As deep as the path names layers; *rest is what is left of it: "", or a parameter's name.
static Layer *find(Layer *layer, const char *path, const char **rest) {
    *rest = path;
    for (int i = 0; *path && i < layer->n_children; i++) {
        const char *after = below(layer->children[i], path);
        if (after) return find(layer->children[i], after, rest);
    }
    return layer;
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
// Does the pattern name this path, or a layer that it leads through?
static bool matches(const char *pattern, const char *path) {
    char part[256];
    for (size_t n = strlen(path); n > 0; n--) {
        if (path[n] != '\0' && path[n] != '.') continue;
        if (n >= sizeof(part)) continue;
        memcpy(part, path, n);
        part[n] = '\0';
        if (fnmatch(pattern, part, 0) == 0) return true;
    }
    return pattern[0] == '\0'; // the whole model
}

Status layer_freeze(Layer *self, const char *pattern, bool frozen, int64_t *count) {
    ParameterList list;
    *count = 0;
    if (!pattern) return error_set(STATUS_INVALID_ARGUMENT, "layer_freeze: no pattern");
    Status status = layer_state(self, &list); // where tied ones are under every path
    for (int i = 0; i < list.count && !status; i++) {
        if (list.items[i].is_buffer || !matches(pattern, list.items[i].path)) continue;
        status = tensor_requires_grad(list.items[i].tensor, !frozen);
        ++*count;
    }
    parameter_list_free(&list);
    return status;
}
