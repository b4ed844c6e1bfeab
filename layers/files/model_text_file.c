// model_text_file.c -- reads a model text from a file; model_text.c parses it.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "layers/files/model_text_parts.h"
#include "tensor/memory.h"

enum { MOST_BYTES = 1 << 20, FIRST_BYTES = 4096 };

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

// Reads the rest of the file and adds a '\0'. It does not ask for the size: a pipe has none.
static char *read_all(FILE *file, const char *path) {
    size_t size = 0, room = FIRST_BYTES;
    const size_t most = MOST_BYTES + 2; // one byte too many to detect excess, and the '\0'
    char *text = memory_new(room);
    while (text) {
        size += fread(text + size, 1, room - 1 - size, file);
        if (size < room - 1) break;
        if (room == most)
            error_set(STATUS_FORMAT, "%.100s: more than a mebibyte. HINT: it is no model text",
                      path);
        size_t more = least(2 * room, most);
        char *larger = room < most ? memory_resize(text, room, more) : NULL;
        if (!larger) memory_free(text);
        text = larger;
        room = more;
    }
    if (!text) return NULL;
    if (ferror(file))
        error_set(STATUS_IO, "%.100s: %s. HINT: a model text is a plain file", path,
                  strerror(errno));
    else if (memchr(text, '\0', size))
        error_set(STATUS_FORMAT,
                  "%.100s: holds a byte of 0, so it is no model text. HINT: an ONNX "
                  "file is read if it is called NAME.onnx",
                  path);
    else
        return text[size] = '\0', text;
    memory_free(text);
    return NULL;
}

Layer *model_text_read_file(const char *path, Shape *input) {
    if (input) *input = (Shape){0};
    if (!path) error_set(STATUS_INVALID_ARGUMENT, "model text: no path");
    if (error_pending()) return NULL;
    FILE *file = fopen(path, "rb");
    if (!file) {
        error_set(STATUS_IO, "%.100s: %s. HINT: name a file with a model text", path,
                  strerror(errno));
        return NULL;
    }
    char *text = read_all(file, path);
    fclose(file);
    const char *begin = text; // some editors begin with a UTF-8 byte order mark
    if (text && strncmp(text, "\xEF\xBB\xBF", 3) == 0) begin += 3;
    Layer *model = text ? model_text_parse(path, begin, input, NULL) : NULL;
    memory_free(text);
    return model;
}
