// model_text_parts.h -- internal to layers/files/: what the parts of the reader of model texts
// share: words, arguments, the table of layers, and the changes that follow the layers.
#ifndef LAYERS_FILES_MODEL_TEXT_PARTS_H
#define LAYERS_FILES_MODEL_TEXT_PARTS_H

#include "layers/files/model_text.h"
#include "tensor/op.h"

enum { TEXT_ARGUMENTS = 24, TEXT_WORD = 256 };

typedef struct TextReader {
    const char *name;      // of the file; or "model text"
    const char *text, *at; // the whole, and how far it is read
    const char *word;      // where the last word began
    const char *layer;     // where the last layer did
    int depth;             // of containers that are open
    int layers;            // so far
    const ModelTextLayer *further;
} TextReader;

// ---- words (model_text_words.c) ----------------------------------------------------------------
// STATUS_FORMAT: "model text: line 1, column 7: what, at ...".
Status reader_malformed(const TextReader *reader, const char *at, const char *what);
// The pending error again, with its place in front.
Status reader_placed(const TextReader *reader, const char *at);
char reader_peek(TextReader *reader);              // what comes after spaces and comments
bool reader_take(TextReader *reader, char wanted); // false: it is something else
Status reader_expect(TextReader *reader, char wanted, const char *complaint);
// A name, path, number or flag: what is made of letters, digits and _ . - +
Status reader_word(TextReader *reader, char word[TEXT_WORD], const char *complaint);
char reader_behind_word(const TextReader *reader); // what comes after the next word; '\0': no word
bool word_is_number(const char *word, bool whole, double *value); // whole: up to 2^53

// The text of a file of that name (model_text.c).
Layer *model_text_parse(const char *name, const char *text, Shape *input,
                        const ModelTextLayer *further);

// ---- layers ------------------------------------------------------------------------------------
// Without activations; name NULL at the end.
extern const ModelTextLayer model_text_layers[], model_text_windows[];

// The layer's arguments, of which the text gives those before `end`, which is ) or ;, and with '\0'
// none (model_text_arguments.c).
Status reader_arguments(TextReader *reader, const ModelTextLayer *layer, char end,
                        double values[TEXT_ARGUMENTS]);
// An activation, behind its name.
Layer *reader_activation(TextReader *reader, const Op *op);

// tie(a,b) and freeze(path), as many as stand there (model_text_changes.c).
Status reader_changes(TextReader *reader, Layer *model);

#endif
