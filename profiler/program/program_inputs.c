// program_inputs.c -- parses --input and --size, and checks them against the inputs of a file. Not
// here: splitting off the name (options_inputs.c), applying a size (onnx/inputs.c).
#include "profiler/program/program_inputs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layers/files/npy.h"
#include "tensor/context.h"
#include "tensor/memory.h"

static bool is_npy(const char *text) {
    size_t n = strlen(text);
    return n > 4 && strcmp(text + n - 4, ".npy") == 0;
}

// Parses "1x3x224x224".
static bool read_shape(const char *text, Shape *shape) {
    *shape = (Shape){0};
    for (;;) {
        char *end;
        errno = 0;
        long long size = strtoll(text, &end, 10);
        if (end == text || errno || size < 0 || shape->ndim == TENSOR_MAX_DIMS) return false;
        shape->dims[shape->ndim++] = size;
        if (!*end) return true;
        if (*end != 'x') return false;
        text = end + 1;
    }
}

// Reads the file on the CPU, whatever the model's device, since its numbers may decide shapes.
static Status take_file(Inputs *told, GivenInput *given) {
    context_push(told->host);
    context_set_device(device_cpu());
    given->numbers = npy_read_new(given->file);
    if (given->numbers) given->shape = given->numbers->shape;
    context_pop();
    return error_status();
}

// Copies the text before `end` to *names, and advances *names past the copy.
static const char *name_taken(const char *text, const char *end, char **names) {
    char *name = *names;
    size_t length = (size_t)(end - text);
    memcpy(name, text, length);
    name[length] = '\0';
    *names += length + 1;
    return name;
}

static Status take_apart(const char *text, Inputs *told, GivenInput *given, char **names) {
    const char *what = options_input_value(text);
    *given = (GivenInput){.file = is_npy(what) ? what : NULL};
    if (what > text) given->name = name_taken(text, what - 1, names);
    if (given->file) return take_file(told, given);
    if (given->name && read_shape(what, &given->shape)) return STATUS_OK;
    return error_set(STATUS_INVALID_ARGUMENT,
                     "--input %s: expected NAME=1x3x224x224, NAME=FILE.npy or FILE.npy", text);
}

static Status make_room(const Options *options, Inputs *told) {
    size_t length = 1, n = (size_t)options->n_inputs, n_sizes = (size_t)options->n_sizes;
    for (size_t i = 0; i < n; i++) length += strlen(options->inputs[i]) + 1;
    for (size_t i = 0; i < n_sizes; i++) length += strlen(options->sizes[i]) + 1;
    told->given = memory_new((n + 1) * sizeof(GivenInput));
    told->shapes = memory_new((n + 1) * sizeof(OnnxShape));
    told->sizes = memory_new((n_sizes + 1) * sizeof(OnnxSize));
    told->names = memory_new(length);
    told->host = error_pending() ? NULL : context_new();
    return error_status();
}

Status inputs_read(const Options *options, Inputs *told) {
    *told = (Inputs){.n = options->n_inputs, .n_sizes = options->n_sizes};
    Status status = make_room(options, told);
    char *names = told->names;
    for (int i = 0; i < told->n && !status; i++) {
        GivenInput *given = &told->given[i];
        status = take_apart(options->inputs[i], told, given, &names);
        told->shapes[i] = (OnnxShape){given->name, given->shape, given->numbers};
    }
    for (int i = 0; i < told->n_sizes && !status; i++) { // checked during option parsing
        const char *text = options->sizes[i], *sign = strrchr(text, '=');
        told->sizes[i] =
            (OnnxSize){name_taken(text, sign, &names), (int64_t)strtoll(sign + 1, NULL, 10)};
    }
    return status;
}

void inputs_free(Inputs *told) {
    for (int i = 0; i < told->n && told->given; i++) tensor_free(told->given[i].numbers);
    context_free(told->host);
    memory_free(told->given);
    memory_free(told->shapes);
    memory_free(told->sizes);
    memory_free(told->names);
}

Status inputs_check(const Inputs *told, const OnnxModel *about, const char *file) {
    int used = 0;
    for (int i = 0; i < about->n_inputs; i++) used += about->inputs[i].told >= 0;
    if (used == told->n) return STATUS_OK;
    char names[200] = "";
    for (int i = 0; i < about->n_inputs; i++) {
        size_t at = strlen(names);
        snprintf(names + at, sizeof(names) - at, "%s%s", i ? ", " : "", about->inputs[i].name);
    }
    return error_set(STATUS_INVALID_ARGUMENT,
                     "--input: %d are given, and %d fit %s, whose inputs are %s. HINT: stored "
                     "numbers are no inputs",
                     told->n, used, file, names);
}
