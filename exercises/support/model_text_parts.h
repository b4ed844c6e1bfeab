// model_text_parts.h -- what the parts of the reader of model texts share: words, the table of
// layers, and the changes that follow the layers.
#ifndef EXERCISES_SUPPORT_MODEL_TEXT_PARTS_H
#define EXERCISES_SUPPORT_MODEL_TEXT_PARTS_H

#include "layers/containers.h"
#include "tensor/op.h"

enum { TEXT_MOST_ARGUMENTS = 24, TEXT_WORD = 64 };

typedef struct TextReader {
    const char *text, *at;
    int depth;  // of containers that are open
    int layers; // so far
} TextReader;

Status text_malformed(const TextReader *reader, const char *what); // "what in column 7 of ..."
char text_peek(TextReader *reader);                                // what comes after spaces
bool text_take(TextReader *reader, char wanted);                   // false: it is something else
Status text_expect(TextReader *reader, char wanted, const char *complaint);
// A name, path, number or flag: what is made of letters, digits and _ . - +
Status text_word(TextReader *reader, char word[TEXT_WORD], const char *complaint);

typedef struct TextArgument {
    const char *name; // NULL ends the list
    AttributeKind kind;
    double value;     // where the text says nothing
    const char *like; // where the text says nothing: as this earlier argument; or NULL
} TextArgument;

// Arguments in the order of the list: numbers whole up to 2^53, flags 0 or 1. The first `places` of
// them may be given by their place, any by its name.
typedef struct LayerText {
    const char *name; // "Linear"
    TextArgument arguments[TEXT_MOST_ARGUMENTS + 1];
    int needed, places; // `needed` of them the text has to give
    Layer *(*make)(const double *arguments);
} LayerText;

extern const LayerText layer_texts[];    // name NULL at the end; without activations
LayerText activation_text(const Op *op); // without make
Layer *activation_of_text(const Op *op, const double *arguments);

// Layers that hold others: "Residual(Linear(4,4) ReLU)".
typedef struct ContainerText {
    const char *name;
    Layer *(*make)(void);
} ContainerText;

extern const ContainerText container_texts[]; // name NULL at the end

// tie(a,b) and freeze(path), as many as stand there.
Status text_read_changes(TextReader *reader, Layer *model);

// model_text_strange.c: layers that exist nowhere else, and that no exercise's table has a line
// for.
Layer *mystery_new(int64_t size);
Layer *linear_gated_new(int64_t in_features, int64_t out_features);
Layer *relu6_new(void);
Layer *scaled_new(void);

#endif
