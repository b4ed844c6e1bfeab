// model_text_parts.h -- internal to layers/files/: declarations that the parts of the model text
// reader share: words, arguments, the table of layers, and the changes that follow the layers.
#ifndef LAYERS_FILES_MODEL_TEXT_PARTS_H
#define LAYERS_FILES_MODEL_TEXT_PARTS_H

#include "layers/files/model_text.h"
#include "tensor/op.h"

enum { TEXT_ARGUMENTS = 24, TEXT_WORD = 256 };

typedef struct TextReader {
    const char *name;      // of the file, or "model text"
    const char *text, *at; // the whole text, and the reading position
    const char *word;      // where the last word began
    const char *layer;     // where the last layer began
    int depth;             // number of open containers
    int layers;            // number of layers so far
    const ModelTextLayer *further;
} TextReader;

// ---- words (model_text_words.c) ----------------------------------------------------------------
// STATUS_FORMAT: "model text: line 1, column 7: what, at ...".
Status reader_malformed(const TextReader *reader, const char *at, const char *what);
// Adds the position in front of the pending error's message.
Status reader_placed(const TextReader *reader, const char *at);
char reader_peek(TextReader *reader);              // the next character after spaces and comments
bool reader_take(TextReader *reader, char wanted); // false: another character comes next
Status reader_expect(TextReader *reader, char wanted, const char *complaint);
// Reads a name, path, number or flag: letters, digits and _ . - +
Status reader_word(TextReader *reader, char word[TEXT_WORD], const char *complaint);
char reader_behind_word(const TextReader *reader); // character after the next word; '\0': no word
bool word_is_number(const char *word, bool whole, double *value); // whole: an integer up to 2^53

// Parses the text of a file of that name (model_text.c).
Layer *model_text_parse(const char *name, const char *text, Shape *input,
                        const ModelTextLayer *further);

// ---- layers ------------------------------------------------------------------------------------
// The tables of layers, without activations; name NULL at the end.
extern const ModelTextLayer model_text_layers[], model_text_windows[];

// Reads the layer's arguments: the text gives those before `end`, which is ) or ;, or '\0' for none
// (model_text_arguments.c).
Status reader_arguments(TextReader *reader, const ModelTextLayer *layer, char end,
                        double values[TEXT_ARGUMENTS]);
// Reads the arguments of an activation, after its name.
Layer *reader_activation(TextReader *reader, const Op *op);

// Applies all tie(a,b) and freeze(path) that follow (model_text_changes.c).
Status reader_changes(TextReader *reader, Layer *model);

#endif
