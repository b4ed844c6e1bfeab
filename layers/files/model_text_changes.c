// model_text_changes.c -- the changes that a model text makes to its finished layers: ties and
// freezes, by path.
#include <ctype.h>
#include <string.h>

#include "layers/files/model_text_parts.h"

static Status read_freeze(TextReader *reader, Layer *model) {
    char path[TEXT_WORD];
    int64_t count;
    Status status = reader_word(reader, path, "a path is missing");
    if (!status) status = layer_freeze(model, path, true, &count);
    if (status || count > 0 || layer_find(model, path)) return status;
    return reader_malformed(reader, reader->word, "a path that leads nowhere");
}

static Status read_tie(TextReader *reader, Layer *model) {
    char path[TEXT_WORD], other_path[TEXT_WORD];
    Status status = reader_word(reader, path, "a path is missing");
    if (!status) status = reader_expect(reader, ',', "a comma is missing");
    if (!status) status = reader_word(reader, other_path, "a path is missing");
    if (status || !layer_tie(model, path, other_path)) return status;
    return reader_placed(reader, reader->word);
}

Status reader_changes(TextReader *reader, Layer *model) {
    while (islower((unsigned char)reader_peek(reader))) {
        char name[TEXT_WORD];
        Status status = reader_word(reader, name, "a name is missing");
        if (!status) status = reader_expect(reader, '(', "a ( is missing");
        if (status) return status;
        if (strcmp(name, "tie") == 0)
            status = read_tie(reader, model);
        else if (strcmp(name, "freeze") == 0)
            status = read_freeze(reader, model);
        else
            status = reader_malformed(reader, reader->word, "neither tie nor freeze");
        if (!status) status = reader_expect(reader, ')', "a ) is missing");
        if (status) return status;
    }
    return STATUS_OK;
}
