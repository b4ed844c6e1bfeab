// input.h -- the input line that the grader writes and a worker reads: "ask=4 warmup=2 base=1000".
// A missing value is 0. Models are in model_line.h.
#ifndef EXERCISES_SUPPORT_INPUT_H
#define EXERCISES_SUPPORT_INPUT_H

#include <stddef.h>
#include <stdint.h>

typedef struct InputField { // one field of a record
    const char *name;       // "warmup"
    size_t offset;          // of an int64_t in the record
} InputField;

// input_write appends " name=value" for each field that is not 0; input_read reads them back.
void input_write(const InputField *fields, int n, const void *record, char *text, size_t size);
void input_read(const InputField *fields, int n, const char *input, void *record);

// The integer under `name`; `otherwise` if the line does not have that name.
int64_t input_integer(const char *input, const char *name, int64_t otherwise);

#endif
