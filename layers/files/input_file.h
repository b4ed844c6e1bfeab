// input_file.h -- internal: a file of numbers that is read at places, and not trusted: what is
// asked of it lies inside it, and memory is taken only for what it can hold.
#ifndef LAYERS_FILES_INPUT_FILE_H
#define LAYERS_FILES_INPUT_FILE_H

#include "layers/files/elements.h"

typedef struct InputFile {
    const char *who;  // begins every message: "safetensors"
    const char *name; // borrowed: the path
    int descriptor;   // -1: not open
    int64_t size;     // bytes, when it was opened
} InputFile;

// STATUS_IO: it cannot be opened, or is no file (a folder, a pipe).
Status input_open(const char *who, const char *path, InputFile *file);
void input_close(InputFile *file);

// STATUS_FORMAT with "who: name: what. HINT: ..."; the hint is given.
Status input_refuse(const InputFile *file, const char *what, const char *hint);

// Bytes [at, at + bytes), which lie within the size. STATUS_IO: reading fails, or the file has
// become shorter.
Status input_read(const InputFile *file, int64_t at, void *to, size_t bytes);

typedef struct InputNumbers { // some numbers in a file
    int64_t at;               // bytes from its start
    const Element *element;
    bool big_endian;
} InputNumbers;
// Makes them the elements of a contiguous tensor whose dtype they fit: straight into its memory
// where that is the host's and they are stored as it holds them, in pieces otherwise. On meta there
// is nothing to do. Counts as a write in place.
Status input_read_tensor(const InputFile *file, InputNumbers numbers, Tensor *to);
// `count` of them into the host's memory.
Status input_read_numbers(const InputFile *file, InputNumbers numbers, int64_t count, DType dtype,
                          void *to);

// A file's own words for a terminal: one line, cut at the size, nothing but what prints.
enum { INPUT_WORDS = 64 };
const char *input_words(const char *words, char text[INPUT_WORDS]);

#endif
