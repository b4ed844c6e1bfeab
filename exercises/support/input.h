// input.h -- the input line that the grader writes and a worker reads: "ask=4 warmup=2 base=1000".
// What is not there is 0. Not here: models (model_line.h).
#ifndef EXERCISES_SUPPORT_INPUT_H
#define EXERCISES_SUPPORT_INPUT_H

#include <stddef.h>
#include <stdint.h>

typedef struct InputField { // of a record
    const char *name;       // "warmup"
    size_t offset;          // of an int64_t
} InputField;

// Adds " name=value" of each field that is not 0 to what `text`, of `size` bytes, holds; and back.
void input_write(const InputField *fields, int n, const void *record, char *text, size_t size);
void input_read(const InputField *fields, int n, const char *input, void *record);

// One integer; `otherwise` where the line has no such name.
int64_t input_integer(const char *input, const char *name, int64_t otherwise);

#endif
