// model_text_changes.c -- what a model text does to its layers once they are there: ties and
// freezes, by path.
#include <ctype.h>
#include <string.h>

#include "exercises/support/model_text_parts.h"

// ---- paths -----------------------------------------------------------------------------------
// What of the path lies behind this layer's name; NULL: it is not on the path.
static const char *below(const Layer *layer, const char *path) {
    size_t length = strlen(layer->name);
    if (strncmp(path, layer->name, length) != 0) return NULL;
    if (path[length] == '.') return path + length + 1;
    return path[length] == '\0' ? path + length : NULL;
}

// The layer of a path; *rest is what is left of it: "" or the name of a parameter.
static Layer *find(Layer *layer, const char *path, const char **rest) {
    *rest = path;
    for (int i = 0; *path && i < layer->n_children; i++) {
        const char *after = below(layer->children[i], path);
        if (after) return find(layer->children[i], after, rest);
    }
    return layer;
}

static Parameter *find_parameter(Layer *model, const char *path) {
    const char *rest;
    Layer *layer = find(model, path, &rest);
    for (int i = 0; i < layer->n_parameters; i++)
        if (strcmp(layer->parameters[i].name, rest) == 0) return &layer->parameters[i];
    return NULL;
}

// ---- tie and freeze --------------------------------------------------------------------------
static Status freeze_below(Layer *layer) {
    Status status = STATUS_OK;
    for (int i = 0; !status && i < layer->n_parameters; i++)
        status = tensor_requires_grad(layer->parameters[i].tensor, false);
    for (int i = 0; !status && i < layer->n_children; i++)
        status = freeze_below(layer->children[i]);
    return status;
}

static Status read_freeze(TextReader *reader, Layer *model) {
    char path[TEXT_WORD];
    const char *rest;
    Status status = text_word(reader, path, "a path is missing");
    if (status) return status;
    Parameter *parameter = find_parameter(model, path);
    if (parameter) return tensor_requires_grad(parameter->tensor, false);
    Layer *layer = find(model, path, &rest);
    return *rest ? text_malformed(reader, "a path that leads nowhere ends") : freeze_below(layer);
}

static Status read_tie(TextReader *reader, Layer *model) {
    char path[TEXT_WORD], other_path[TEXT_WORD];
    Status status = text_word(reader, path, "a path is missing");
    if (!status) status = text_expect(reader, ',', "a comma is missing");
    if (!status) status = text_word(reader, other_path, "a path is missing");
    if (status) return status;
    Parameter *one = find_parameter(model, path), *other = find_parameter(model, other_path);
    if (!one || !other) return text_malformed(reader, "a path to no parameter ends");
    if (!shape_equal(one->tensor->shape, other->tensor->shape))
        return text_malformed(reader, "a tie of two shapes ends");
    Tensor *old = one->tensor;
    one->tensor = tensor_retain(other->tensor);
    tensor_free(old);
    return STATUS_OK;
}

Status text_read_changes(TextReader *reader, Layer *model) {
    while (islower((unsigned char)text_peek(reader))) {
        char name[TEXT_WORD];
        Status status = text_word(reader, name, "a name is missing");
        if (!status) status = text_expect(reader, '(', "a ( is missing");
        if (status) return status;
        if (strcmp(name, "tie") == 0)
            status = read_tie(reader, model);
        else if (strcmp(name, "freeze") == 0)
            status = read_freeze(reader, model);
        else
            status = text_malformed(reader, "neither tie nor freeze stands");
        if (!status) status = text_expect(reader, ')', "a ) is missing");
        if (status) return status;
    }
    return STATUS_OK;
}
