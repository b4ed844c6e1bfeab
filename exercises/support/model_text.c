// model_text.c -- reads a model text: a small recursive-descent parser over one line. Which layers
// there are, and what they take, is model_text_layers.c's table.
#include "exercises/support/model_text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exercises/support/model_text_parts.h"

enum { MOST_DEPTH = 32, MOST_LAYERS = 1024, LARGEST_BITS = 53 };
enum { MOST_PARAMETERS = 1 << 28 }; // with values: a gibibyte

// ---- words -----------------------------------------------------------------------------------
Status text_malformed(const TextReader *reader, const char *what) {
    return error_set(STATUS_FORMAT,
                     "model text: %s in column %d of \"%.80s\". HINT: as in Linear(784,512) ReLU "
                     "Linear(512,10,bias=false) @ 64x784",
                     what, (int)(reader->at - reader->text) + 1, reader->text);
}

char text_peek(TextReader *reader) {
    while (*reader->at == ' ') reader->at++;
    return *reader->at;
}

bool text_take(TextReader *reader, char wanted) {
    if (text_peek(reader) != wanted) return false;
    reader->at++;
    return true;
}

Status text_expect(TextReader *reader, char wanted, const char *complaint) {
    return text_take(reader, wanted) ? STATUS_OK : text_malformed(reader, complaint);
}

Status text_word(TextReader *reader, char word[TEXT_WORD], const char *complaint) {
    text_peek(reader);
    size_t length = 0;
    const char *at = reader->at;
    while (isalnum((unsigned char)at[length]) || (at[length] && strchr("_.+-", at[length])))
        length++;
    if (length == 0 || length >= TEXT_WORD) return text_malformed(reader, complaint);
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
static Status read_value(TextReader *reader, const TextArgument *argument, const char *word,
                         double *value) {
    bool good = argument->kind == ATTRIBUTE_FLAG
                    ? is_flag(word, value)
                    : is_number(word, argument->kind == ATTRIBUTE_INTEGER, value);
    return good ? STATUS_OK : text_malformed(reader, "a value that does not fit ends");
}

// One argument: "512" at its place, or "bias=false" anywhere after those.
static Status read_argument(TextReader *reader, const LayerText *layer, int *place, unsigned *given,
                            double *values) {
    char word[TEXT_WORD];
    Status status = text_word(reader, word, "an argument is missing");
    if (status) return status;
    int i = *place;
    if (text_take(reader, '=')) {
        for (i = 0; layer->arguments[i].name && strcmp(layer->arguments[i].name, word) != 0;) i++;
        status = text_word(reader, word, "a value is missing");
        if (status) return status;
        *place = TEXT_MOST_ARGUMENTS; // from here on by name only
    } else if (++*place > layer->places) {
        i = TEXT_MOST_ARGUMENTS;
    }
    if (i >= TEXT_MOST_ARGUMENTS || !layer->arguments[i].name)
        return text_malformed(reader, "an argument that the layer does not take ends");
    if (*given & 1u << i) return text_malformed(reader, "an argument that was given before ends");
    *given |= 1u << i;
    return read_value(reader, &layer->arguments[i], word, &values[i]);
}

// What the text does not say.
static void fill_in(const LayerText *layer, unsigned given, double *values) {
    const TextArgument *all = layer->arguments;
    for (int i = 0; all[i].name; i++) {
        if (given & 1u << i) continue;
        values[i] = all[i].value;
        for (int earlier = 0; all[i].like && earlier < i; earlier++)
            if (strcmp(all[earlier].name, all[i].like) == 0) values[i] = values[earlier];
    }
}

// `op`: the activation that the layer is; NULL: it is none.
static Layer *read_plain(TextReader *reader, const LayerText *layer, const Op *op) {
    double values[TEXT_MOST_ARGUMENTS] = {0};
    unsigned given = 0;
    int place = 0;
    if (text_take(reader, '(')) {
        do {
            if (read_argument(reader, layer, &place, &given, values)) return NULL;
        } while (text_take(reader, ','));
        if (text_expect(reader, ')', "a ) is missing")) return NULL;
    }
    unsigned needed = (1u << layer->needed) - 1;
    fill_in(layer, given, values);
    if ((given & needed) == needed)
        return op ? activation_of_text(op, values) : layer->make(values);
    text_malformed(reader, "a layer that lacks a size ends");
    return NULL;
}

static Layer *read_layer(TextReader *reader);

static Status add_child(Layer *parent, Layer *child) {
    char name[16];
    snprintf(name, sizeof(name), "%d", parent->n_children);
    return layer_add_child(parent, name, child);
}

// "3*" before a layer: that many of it; else 1.
static Status read_times(TextReader *reader, int64_t *times) {
    char word[TEXT_WORD];
    double value = 1.0;
    Status status = STATUS_OK;
    if (isdigit((unsigned char)text_peek(reader))) {
        status = text_word(reader, word, "a number is missing");
        if (!status && (!is_number(word, true, &value) || value < 1.0 || value > MOST_LAYERS))
            status = text_malformed(reader, "how often, which is no number of layers, ends");
        if (!status) status = text_expect(reader, '*', "a * is missing");
    }
    *times = (int64_t)value;
    return status;
}

// Each of several is read anew from where the first stands.
static Status read_children(TextReader *reader, Layer *parent) {
    int64_t times;
    Status status = read_times(reader, &times);
    const char *begin = reader->at;
    for (int64_t i = 0; i < times && !status; i++) {
        reader->at = begin;
        Layer *child = read_layer(reader);
        status = child ? add_child(parent, child) : error_status();
    }
    return status;
}

static Layer *read_container(TextReader *reader, const ContainerText *container) {
    if (text_expect(reader, '(', "a ( is missing")) return NULL;
    if (++reader->depth > MOST_DEPTH) {
        text_malformed(reader, "too deep nesting");
        return NULL;
    }
    Layer *parent = container->make();
    while (parent && text_peek(reader) != ')') {
        if (!read_children(reader, parent)) continue;
        layer_free(parent);
        return NULL;
    }
    if (parent) reader->at++;
    reader->depth--;
    return parent;
}

static Layer *read_layer(TextReader *reader) {
    char name[TEXT_WORD];
    text_peek(reader);
    const char *begin = reader->at;
    if (++reader->layers > MOST_LAYERS) {
        text_malformed(reader, "more than 1024 layers");
        return NULL;
    }
    if (text_word(reader, name, "a layer is missing")) return NULL;
    for (const ContainerText *one = container_texts; one->name; one++)
        if (strcmp(one->name, name) == 0) return read_container(reader, one);
    for (const LayerText *one = layer_texts; one->name; one++)
        if (strcmp(one->name, name) == 0) return read_plain(reader, one, NULL);
    for (int i = 0; op_activation_at(i); i++) {
        LayerText one = activation_text(op_activation_at(i));
        if (strcmp(one.name, name) == 0) return read_plain(reader, &one, op_activation_at(i));
    }
    reader->at = begin;
    text_malformed(reader, "a layer that there is not");
    return NULL;
}

// ---- the whole -------------------------------------------------------------------------------
static bool layer_follows(TextReader *reader) {
    unsigned char next = (unsigned char)text_peek(reader);
    return isupper(next) || isdigit(next);
}

static Layer *read_chain(TextReader *reader) {
    bool several = isdigit((unsigned char)text_peek(reader)) != 0;
    Layer *first = several ? NULL : read_layer(reader);
    if (!several && (!first || !layer_follows(reader))) return first;
    Layer *model = sequential_new();
    if (!model) layer_free(first);
    Status status = !model ? error_status() : first ? add_child(model, first) : STATUS_OK;
    while (!status && layer_follows(reader)) status = read_children(reader, model);
    if (!status) return model;
    layer_free(model);
    return NULL;
}

static Status read_shape(TextReader *reader, Shape *shape) {
    if (!text_take(reader, '@')) return STATUS_OK;
    text_peek(reader);
    do {
        char *end;
        if (!isdigit((unsigned char)*reader->at) || shape->ndim == TENSOR_MAX_DIMS)
            return text_malformed(reader, "no shape of 1 to 6 sizes");
        long long size = strtoll(reader->at, &end, 10);
        if (size >= 1LL << LARGEST_BITS) return text_malformed(reader, "too large a size");
        shape->dims[shape->ndim++] = size;
        reader->at = end;
    } while (*reader->at == 'x' && reader->at++);
    return STATUS_OK;
}

static Layer *read_model(const char *text, Shape *input) {
    *input = (Shape){0};
    TextReader reader = {.text = text, .at = text};
    Layer *model = read_chain(&reader);
    if (!model) return NULL;
    Status status = text_read_changes(&reader, model);
    if (!status) status = read_shape(&reader, input);
    if (!status && text_peek(&reader)) status = text_malformed(&reader, "something else stands");
    if (!status) return model;
    layer_free(model);
    *input = (Shape){0};
    return NULL;
}

// A line can ask for more than a machine has. So it is read where values take no memory first, in a
// context of its own: the caller's ledger and random numbers see nothing of it.
static Status check_size(const char *text) {
    Context *context = context_new();
    if (!context) return error_status();
    Shape input;
    context_push(context);
    context_set_device(device_meta());
    Layer *model = read_model(text, &input);
    int64_t parameters = model ? layer_parameter_count(model) : 0;
    layer_free(model);
    if (parameters > MOST_PARAMETERS)
        error_set(
            STATUS_INVALID_ARGUMENT,
            "model text: %lld parameters in \"%.80s\". HINT: at most %lld have values; on the "
            "meta device there is no limit",
            (long long)parameters, text, (long long)MOST_PARAMETERS);
    context_pop();
    context_free(context);
    return error_status();
}

Layer *model_from_text(const char *text, Shape *input) {
    *input = (Shape){0};
    if (error_pending()) return NULL;
    bool values = context_current()->device->has_data;
    return values && check_size(text) ? NULL : read_model(text, input);
}

const char *model_text_layer(int index) {
    int containers = 0;
    while (container_texts[containers].name) containers++;
    if (index < containers) return container_texts[index].name;
    int layers = containers;
    for (; layer_texts[layers - containers].name; layers++)
        if (layers == index) return layer_texts[layers - containers].name;
    const Op *op = op_activation_at(0);
    for (int i = 0; op; op = op_activation_at(++i)) // no word has brackets
        if (!strchr(op->module, '(') && layers++ == index) return op->module;
    return NULL;
}
