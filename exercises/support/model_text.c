// model_text.c -- reads a model text: a small recursive-descent parser over one line. Which layers
// there are, and what they take, is model_text_layers.c's table.
#include "exercises/support/model_text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exercises/support/model_text_parts.h"
#include "tensor/memory.h"

enum { MOST_DEPTH = 16, WORD = 64, LARGEST_BITS = 53 };

typedef struct Reader {
    const char *text, *at;
    int depth; // of Sequentials that are open
} Reader;

// ---- words -----------------------------------------------------------------------------------
static Status malformed(const Reader *reader, const char *what) {
    return error_set(STATUS_FORMAT,
                     "model text: %s in column %d of \"%.80s\". HINT: as in Linear(784,512) ReLU "
                     "Linear(512,10,bias=false) @ 64x784",
                     what, (int)(reader->at - reader->text) + 1, reader->text);
}

static char peek(Reader *reader) {
    while (*reader->at == ' ') reader->at++;
    return *reader->at;
}

static bool take(Reader *reader, char wanted) {
    if (peek(reader) != wanted) return false;
    reader->at++;
    return true;
}

static Status expect(Reader *reader, char wanted, const char *complaint) {
    return take(reader, wanted) ? STATUS_OK : malformed(reader, complaint);
}

// A name, path, number or flag: what is made of letters, digits and _ . - +
static Status read_word(Reader *reader, char word[WORD], const char *complaint) {
    peek(reader);
    size_t length = 0;
    const char *at = reader->at;
    while (isalnum((unsigned char)at[length]) || (at[length] && strchr("_.+-", at[length])))
        length++;
    if (length == 0 || length >= WORD) return malformed(reader, complaint);
    memcpy(word, at, length);
    word[length] = '\0';
    reader->at += length;
    return STATUS_OK;
}

static bool is_flag(const char *word, double *value) {
    *value = strcmp(word, "true") == 0;
    return *value != 0.0 || strcmp(word, "false") == 0;
}

static bool is_number(const char *word, bool whole, double *value) {
    char *end;
    if (!strchr("0123456789.-", word[0]) || word[strcspn(word, "xXpPnN")]) return false;
    *value = strtod(word, &end);
    if (*end || !isfinite(*value)) return false;
    return !whole || (*value == floor(*value) && fabs(*value) <= ldexp(1.0, LARGEST_BITS) &&
                      !word[strcspn(word, ".eE")]);
}

// ---- a layer ---------------------------------------------------------------------------------
static Status read_value(Reader *reader, const TextArgument *argument, const char *word,
                         double *value) {
    bool good = argument->kind == ATTRIBUTE_FLAG
                    ? is_flag(word, value)
                    : is_number(word, argument->kind == ATTRIBUTE_INTEGER, value);
    return good ? STATUS_OK : malformed(reader, "a value that does not fit ends");
}

// One argument: "512" at its place, or "bias=false" anywhere after those.
static Status read_argument(Reader *reader, const LayerText *layer, int *place, unsigned *given,
                            double *values) {
    char word[WORD];
    Status status = read_word(reader, word, "an argument is missing");
    if (status) return status;
    int i = *place;
    if (take(reader, '=')) {
        for (i = 0; layer->arguments[i].name && strcmp(layer->arguments[i].name, word) != 0;) i++;
        status = read_word(reader, word, "a value is missing");
        if (status) return status;
        *place = TEXT_MOST_ARGUMENTS; // from here on by name only
    } else {
        ++*place;
    }
    if (i >= TEXT_MOST_ARGUMENTS || !layer->arguments[i].name)
        return malformed(reader, "an argument that the layer does not take ends");
    if (*given & 1u << i) return malformed(reader, "an argument that was given before ends");
    *given |= 1u << i;
    return read_value(reader, &layer->arguments[i], word, &values[i]);
}

static Layer *read_plain(Reader *reader, const LayerText *layer) {
    double values[TEXT_MOST_ARGUMENTS] = {0};
    unsigned given = 0;
    int place = 0;
    for (int i = 0; layer->arguments[i].name; i++) values[i] = layer->arguments[i].value;
    if (take(reader, '(')) {
        do {
            if (read_argument(reader, layer, &place, &given, values)) return NULL;
        } while (take(reader, ','));
        if (expect(reader, ')', "a ) is missing")) return NULL;
    }
    unsigned needed = (1u << layer->needed) - 1;
    if ((given & needed) == needed) return layer->make(values);
    malformed(reader, "a layer that lacks a size ends");
    return NULL;
}

static Layer *read_layer(Reader *reader);

static Status add_child(Layer *parent, Layer *child) {
    char name[16];
    snprintf(name, sizeof(name), "%d", parent->n_children);
    return layer_add_child(parent, name, child);
}

static Layer *read_sequential(Reader *reader) {
    if (expect(reader, '(', "a ( is missing")) return NULL;
    if (++reader->depth > MOST_DEPTH) {
        malformed(reader, "too deep nesting");
        return NULL;
    }
    Layer *parent = sequential_new();
    while (parent && peek(reader) != ')') {
        Layer *child = read_layer(reader);
        if (child && !add_child(parent, child)) continue;
        layer_free(parent);
        return NULL;
    }
    if (parent) reader->at++;
    reader->depth--;
    return parent;
}

static Layer *read_layer(Reader *reader) {
    char name[WORD];
    const char *begin = reader->at;
    if (read_word(reader, name, "a layer is missing")) return NULL;
    if (strcmp(name, "Sequential") == 0) return read_sequential(reader);
    for (const LayerText *layer = layer_texts; layer->name; layer++)
        if (strcmp(layer->name, name) == 0) return read_plain(reader, layer);
    reader->at = begin;
    malformed(reader, "a layer that there is not");
    return NULL;
}

// ---- tie and freeze --------------------------------------------------------------------------
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

static Status freeze_below(Layer *layer) {
    Status status = STATUS_OK;
    for (int i = 0; !status && i < layer->n_parameters; i++)
        status = tensor_requires_grad(layer->parameters[i].tensor, false);
    for (int i = 0; !status && i < layer->n_children; i++)
        status = freeze_below(layer->children[i]);
    return status;
}

static Status read_freeze(Reader *reader, Layer *model) {
    char path[WORD];
    const char *rest;
    Status status = read_word(reader, path, "a path is missing");
    if (status) return status;
    Parameter *parameter = find_parameter(model, path);
    if (parameter) return tensor_requires_grad(parameter->tensor, false);
    Layer *layer = find(model, path, &rest);
    return *rest ? malformed(reader, "a path that leads nowhere ends") : freeze_below(layer);
}

static Status read_tie(Reader *reader, Layer *model) {
    char path[WORD], other_path[WORD];
    Status status = read_word(reader, path, "a path is missing");
    if (!status) status = expect(reader, ',', "a comma is missing");
    if (!status) status = read_word(reader, other_path, "a path is missing");
    if (status) return status;
    Parameter *one = find_parameter(model, path), *other = find_parameter(model, other_path);
    if (!one || !other) return malformed(reader, "a path to no parameter ends");
    if (!tensor_same_shape(one->tensor, other->tensor))
        return malformed(reader, "a tie of two shapes ends");
    Tensor *old = one->tensor;
    one->tensor = tensor_retain(other->tensor);
    tensor_free(old);
    return STATUS_OK;
}

static Status read_changes(Reader *reader, Layer *model) {
    while (islower((unsigned char)peek(reader))) {
        char name[WORD];
        Status status = read_word(reader, name, "a name is missing");
        if (!status) status = expect(reader, '(', "a ( is missing");
        if (status) return status;
        if (strcmp(name, "tie") == 0)
            status = read_tie(reader, model);
        else if (strcmp(name, "freeze") == 0)
            status = read_freeze(reader, model);
        else
            status = malformed(reader, "neither tie nor freeze stands");
        if (!status) status = expect(reader, ')', "a ) is missing");
        if (status) return status;
    }
    return STATUS_OK;
}

// ---- the whole -------------------------------------------------------------------------------
static Layer *read_chain(Reader *reader) {
    Layer *first = read_layer(reader);
    if (!first || !isupper((unsigned char)peek(reader))) return first;
    Layer *model = sequential_new();
    if (!model) layer_free(first);
    Status status = model ? add_child(model, first) : error_status();
    while (!status && isupper((unsigned char)peek(reader))) {
        Layer *next = read_layer(reader);
        status = next ? add_child(model, next) : error_status();
    }
    if (!status) return model;
    layer_free(model);
    return NULL;
}

static Status read_shape(Reader *reader, Shape *shape) {
    if (!take(reader, '@')) return STATUS_OK;
    peek(reader);
    do {
        char *end;
        if (!isdigit((unsigned char)*reader->at) || shape->ndim == TENSOR_MAX_DIMS)
            return malformed(reader, "no shape of 1 to 6 sizes");
        long long size = strtoll(reader->at, &end, 10);
        if (size >= 1LL << LARGEST_BITS) return malformed(reader, "too large a size");
        shape->dims[shape->ndim++] = size;
        reader->at = end;
    } while (*reader->at == 'x' && reader->at++);
    return STATUS_OK;
}

Layer *model_from_text(const char *text, Shape *input) {
    *input = (Shape){0};
    if (error_pending()) return NULL;
    Reader reader = {.text = text, .at = text};
    Layer *model = read_chain(&reader);
    if (!model) return NULL;
    Status status = read_changes(&reader, model);
    if (!status) status = read_shape(&reader, input);
    if (!status && peek(&reader)) status = malformed(&reader, "something else stands");
    if (!status) return model;
    layer_free(model);
    *input = (Shape){0};
    return NULL;
}

const char *model_text_layer(int index) {
    int count = 0;
    while (layer_texts[count].name) count++;
    return index < count ? layer_texts[index].name : index == count ? "Sequential" : NULL;
}
