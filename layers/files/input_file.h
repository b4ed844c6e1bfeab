// input_file.h -- internal: an untrusted file of numbers, read at offsets: every read is checked to
// lie inside it, and memory is allocated only for data that it can hold.
#ifndef LAYERS_FILES_INPUT_FILE_H
#define LAYERS_FILES_INPUT_FILE_H

#include "layers/files/elements.h"

typedef struct InputFile {
    const char *who;  // begins every message: "safetensors"
    const char *name; // borrowed: the path
    int descriptor;   // -1: not open
    int64_t size;     // bytes, when it was opened
} InputFile;

// STATUS_IO: the file cannot be opened, or is not a regular file (a folder, a pipe).
Status input_open(const char *who, const char *path, InputFile *file);
void input_close(InputFile *file);

// Sets STATUS_FORMAT with "who: name: what. HINT: ...", where the text after HINT is `hint`.
Status input_refuse(const InputFile *file, const char *what, const char *hint);

// Reads bytes [at, at + bytes), which must lie within the size. STATUS_IO: reading fails, or the
// file has become shorter.
Status input_read(const InputFile *file, int64_t at, void *to, size_t bytes);

typedef struct InputNumbers { // some numbers in a file
    int64_t at;               // bytes from its start
    const Element *element;
    bool big_endian;
} InputNumbers;
// Reads them into a contiguous tensor whose dtype they fit: straight into host memory where the
// file stores them as the tensor does, otherwise in pieces. Does nothing on meta. Counts as a write
// in place.
Status input_read_tensor(const InputFile *file, InputNumbers numbers, Tensor *to);
// Reads `count` of them into host memory.
Status input_read_numbers(const InputFile *file, InputNumbers numbers, int64_t count, DType dtype,
                          void *to);

// Makes a file's text safe for a terminal: one line of printable characters, cut at the size.
enum { INPUT_WORDS = 64 };
const char *input_words(const char *words, char text[INPUT_WORDS]);

#endif
