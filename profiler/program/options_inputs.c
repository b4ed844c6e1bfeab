// options_inputs.c -- --input and --size: collects the values for a file's inputs; the last one of
// a name counts. Not here: matching them with the file's inputs (program_onnx.c).
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profiler/program/options_table.h"

static bool is_value(const char *text) { // a shape, or a file that exists
    return text[0] && (text[strspn(text, "0123456789x")] == '\0' || access(text, F_OK) == 0);
}

// Names and paths can hold a '=', too: the name ends at the first one before a value.
const char *options_input_value(const char *text) {
    const char *first = strchr(text, '=');
    if (!first || access(text, F_OK) == 0) return text;
    for (const char *sign = first; sign; sign = strchr(sign + 1, '='))
        if (sign > text && is_value(sign + 1)) return sign + 1;
    return first > text ? first + 1 : text;
}

// Replaces the text with the same name (its first `length` characters, including the "="), or
// appends the text.
static bool take_last(const char *text, size_t length, const char *list[], int *n, int most) {
    int at = 0;
    while (at < *n && !(length > 0 && strncmp(list[at], text, length) == 0)) at++;
    if (at == most) return false;
    list[at] = text;
    *n = at < *n ? *n : at + 1;
    return true;
}

static size_t name_length(const char *text) { return (size_t)(options_input_value(text) - text); }

static bool add_input(Options *options, const char *text) {
    return take_last(text, name_length(text), options->inputs, &options->n_inputs,
                     OPTIONS_MAX_INPUTS) ||
           options_refuse(options, "--input %s: at most %d inputs can be told", text,
                          OPTIONS_MAX_INPUTS);
}

// Typed inputs without a name replace all those of the file; named ones replace singly.
bool options_inputs_merge(Options *options, const Options *filed) {
    const Options typed = *options;
    bool by_place = false, fits = true;
    for (int i = 0; i < typed.n_inputs; i++)
        by_place = by_place || name_length(typed.inputs[i]) == 0;
    options->n_inputs = 0;
    for (int i = 0; i < filed->n_inputs; i++)
        if (!by_place || name_length(filed->inputs[i]) > 0)
            options->inputs[options->n_inputs++] = filed->inputs[i];
    for (int i = 0; i < typed.n_inputs && fits; i++) fits = add_input(options, typed.inputs[i]);
    return fits;
}

bool take_input(Options *options, const Flag *flag, const char *text) {
    if (!text[0])
        return options_refuse(options,
                              "--%s is empty: expected NAME=1x3x224x224, NAME=FILE.npy or FILE.npy",
                              flag->name);
    return add_input(options, text);
}

// Takes "seq=128". The name is all before the last '=', such as "2*seq" or any name in a file.
bool take_open_size(Options *options, const Flag *flag, const char *text) {
    const char *sign = strrchr(text, '=');
    char *end = NULL;
    errno = 0;
    long long size = sign && sign > text ? strtoll(sign + 1, &end, 10) : -1;
    if (size < 0 || size > INT32_MAX || errno || end == sign + 1 || *end)
        return options_refuse(options,
                              "--%s %s: expected a NAME and a whole number up to %d, as seq=128",
                              flag->name, text, INT32_MAX);
    size_t length = (size_t)(sign + 1 - text);
    return take_last(text, length, options->sizes, &options->n_sizes, OPTIONS_MAX_SIZES) ||
           options_refuse(options, "--%s %s: at most %d sizes can be told", flag->name, text,
                          OPTIONS_MAX_SIZES);
}
