// model_text_parts.h -- what the reader of model texts and its table of layers share.
#ifndef EXERCISES_SUPPORT_MODEL_TEXT_PARTS_H
#define EXERCISES_SUPPORT_MODEL_TEXT_PARTS_H

#include "layers/layer.h"

enum { TEXT_MOST_ARGUMENTS = 8 };

typedef struct TextArgument {
    const char *name; // NULL ends the list
    AttributeKind kind;
    double value; // where the text says nothing
} TextArgument;

// Arguments in the order of the list: numbers whole up to 2^53, flags 0 or 1.
typedef struct LayerText {
    const char *name; // "Linear"
    TextArgument arguments[TEXT_MOST_ARGUMENTS + 1];
    int needed; // so many of them the text has to give
    Layer *(*make)(const double *arguments);
} LayerText;

extern const LayerText layer_texts[]; // name NULL at the end

#endif
