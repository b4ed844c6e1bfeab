// model_text.c -- reads a model text: a small recursive-descent parser. model_text_layers.c has the
// table of layers and their arguments.
#include "layers/files/model_text.h"

#include <ctype.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "layers/files/model_text_parts.h"

enum { LARGEST_BITS = 53, TABLES = 2 };

static const ModelTextLayer *const tables[TABLES] = {model_text_layers, model_text_windows};

static Layer *read_layer(TextReader *reader);

// ---- children ----------------------------------------------------------------------------------
// Reads "3*" before a layer, the number of copies; else gives 1.
static Status read_times(TextReader *reader, int64_t *times) {
    char word[TEXT_WORD];
    double value = 1.0;
    Status status = STATUS_OK;
    if (isdigit((unsigned char)reader_peek(reader))) {
        status = reader_word(reader, word, "a number is missing");
        if (!status &&
            (!word_is_number(word, true, &value) || value < 1.0 || value > MODEL_TEXT_LAYERS))
            status = reader_malformed(reader, reader->word, "how often is no number of layers");
        if (!status) status = reader_expect(reader, '*', "a * is missing");
    }
    *times = status ? 1 : (int64_t)value;
    return status;
}

// Reads a layer with its name, or several without one; the text of the first is read again for
// each.
static Status read_children(TextReader *reader, Layer *parent) {
    char name[TEXT_WORD] = "";
    int64_t times = 1;
    Status status;
    if (reader_behind_word(reader) == ':') {
        status = reader_word(reader, name, "a name is missing");
        if (!status) status = reader_expect(reader, ':', "a : is missing");
    } else {
        status = read_times(reader, &times);
    }
    const char *named = name[0] ? reader->word : NULL, *begin = reader->at;
    for (int64_t i = 0; i < times && !status; i++) {
        reader->at = begin;
        Layer *child = read_layer(reader);
        if (!child) return error_status();
        status = name[0] ? layer_add_child(parent, name, child) : layer_append(parent, child);
        if (status) reader_placed(reader, named ? named : begin);
    }
    return status;
}

static Status read_children_of(TextReader *reader, Layer *parent) {
    Status status = STATUS_OK;
    if (++reader->depth > MODEL_TEXT_DEPTH)
        status = reader_malformed(reader, reader->layer, "too deep nesting");
    while (!status && reader_peek(reader) != ')') status = read_children(reader, parent);
    if (!status) reader->at++;
    reader->depth--;
    return status;
}

// ---- a layer -----------------------------------------------------------------------------------
// The character that ends the layer's arguments; '\0': it has none. A container has arguments if a
// word is followed by a character that cannot follow a layer.
static char end_of_arguments(TextReader *reader, const ModelTextLayer *layer) {
    if (!layer->holds) return (char)(reader_take(reader, '(') ? ')' : '\0');
    char next = reader_behind_word(reader);
    return (char)(next && strchr(",;=", next) ? ';' : '\0');
}

static Layer *read_known(TextReader *reader, const ModelTextLayer *known) {
    double values[TEXT_ARGUMENTS];
    const char *begin = reader->layer;
    if (known->holds && reader_expect(reader, '(', "a ( is missing")) return NULL;
    if (reader_arguments(reader, known, end_of_arguments(reader, known), values)) return NULL;
    Layer *layer = known->make(values);
    if (!layer) reader_placed(reader, begin);
    if (!layer || !known->holds || !read_children_of(reader, layer)) return layer;
    layer_free(layer);
    return NULL;
}

static const ModelTextLayer *find(const ModelTextLayer *table, const char *name) {
    for (; table && table->name; table++)
        if (strcmp(table->name, name) == 0) return table;
    return NULL;
}

static Layer *read_layer(TextReader *reader) {
    char name[TEXT_WORD];
    const Op *op;
    reader_peek(reader);
    if (++reader->layers > MODEL_TEXT_LAYERS) {
        reader_malformed(reader, reader->at, "more than 1024 layers");
        return NULL;
    }
    if (reader_word(reader, name, "a layer is missing")) return NULL;
    reader->layer = reader->word;
    const ModelTextLayer *known = find(reader->further, name);
    for (int i = 0; !known && i < TABLES; i++) known = find(tables[i], name);
    if (known) return read_known(reader, known);
    for (int i = 0; (op = op_activation_at(i)); i++)
        if (strcmp(op->module, name) == 0) return reader_activation(reader, op);
    reader_malformed(reader, reader->word, "unknown layer");
    return NULL;
}

// ---- the whole ---------------------------------------------------------------------------------
static bool layer_follows(TextReader *reader) {
    unsigned char next = (unsigned char)reader_peek(reader);
    return isupper(next) || isdigit(next) || reader_behind_word(reader) == ':';
}

static Layer *read_chain(TextReader *reader) {
    bool several = isdigit((unsigned char)reader_peek(reader)) || reader_behind_word(reader) == ':';
    Layer *first = several ? NULL : read_layer(reader);
    if (!several && (!first || !layer_follows(reader))) return first;
    Layer *model = sequential_new();
    if (!model) layer_free(first);
    Status status = !model ? error_status() : first ? layer_append(model, first) : STATUS_OK;
    while (!status && layer_follows(reader)) status = read_children(reader, model);
    if (!status) return model;
    layer_free(model);
    return NULL;
}

static Status read_shape(TextReader *reader, Shape *shape) {
    if (!reader_take(reader, '@')) return STATUS_OK;
    reader_peek(reader);
    do {
        char *end;
        if (!isdigit((unsigned char)*reader->at) || shape->ndim == TENSOR_MAX_DIMS)
            return reader_malformed(reader, reader->at, "no shape of 1 to 6 sizes");
        long long size = strtoll(reader->at, &end, 10);
        if (size >= 1LL << LARGEST_BITS)
            return reader_malformed(reader, reader->at, "too large a size");
        shape->dims[shape->ndim++] = size;
        reader->at = end;
    } while (*reader->at == 'x' && reader->at++);
    return STATUS_OK;
}

static Layer *read_whole(TextReader *reader, Shape *input) {
    Layer *model = read_chain(reader);
    if (!model) return NULL;
    Status status = reader_changes(reader, model);
    if (!status) status = read_shape(reader, input);
    if (!status && reader_peek(reader))
        status = reader_malformed(reader, reader->at, "what is neither a layer nor a shape");
    if (!status) return model;
    layer_free(model);
    return NULL;
}

// Sets the C locale while it parses, because the program may use another for numbers and letters.
Layer *model_text_parse(const char *name, const char *text, Shape *input,
                        const ModelTextLayer *further) {
    Shape found = {0};
    if (input) *input = found;
    if (!text) error_set(STATUS_INVALID_ARGUMENT, "%s: no text", name);
    if (error_pending()) return NULL;
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!plain) {
        error_set(STATUS_OUT_OF_MEMORY, "%s: no room for a locale", name);
        return NULL;
    }
    TextReader reader = {.name = name, .text = text, .at = text, .further = further};
    locale_t programs = uselocale(plain);
    Layer *model = read_whole(&reader, &found);
    uselocale(programs);
    freelocale(plain);
    if (input && model) *input = found;
    return model;
}

Layer *model_text_read_with(const char *text, Shape *input, const ModelTextLayer *further) {
    return model_text_parse("model text", text, input, further);
}

Layer *model_text_read(const char *text, Shape *input) {
    return model_text_read_with(text, input, NULL);
}

const char *model_text_layer(int index) {
    if (index < 0) return NULL;
    for (int i = 0; i < TABLES; i++)
        for (const ModelTextLayer *one = tables[i]; one->name; one++)
            if (index-- == 0) return one->name;
    const Op *op;
    for (int i = 0; (op = op_activation_at(i)); i++) // op names have no brackets
        if (!strchr(op->module, '(') && index-- == 0) return op->module;
    return NULL;
}
