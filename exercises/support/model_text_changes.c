// model_text_changes.c -- what a model text does to its layers once they are there: ties and
// freezes, by path.
#include <ctype.h>
#include <string.h>

#include "exercises/support/model_text_parts.h"

static Status read_freeze(TextReader *reader, Layer *model) {
    char path[TEXT_WORD];
    int64_t count;
    Status status = text_word(reader, path, "a path is missing");
    if (!status) status = layer_freeze(model, path, true, &count);
    if (status || count > 0 || layer_find(model, path)) return status;
    return text_malformed(reader, "a path that leads nowhere ends");
}

static Status read_tie(TextReader *reader, Layer *model) {
    char path[TEXT_WORD], other_path[TEXT_WORD];
    Status status = text_word(reader, path, "a path is missing");
    if (!status) status = text_expect(reader, ',', "a comma is missing");
    if (!status) status = text_word(reader, other_path, "a path is missing");
    return status ? status : layer_tie(model, path, other_path);
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
