// program_onnx.c -- an ONNX file as what is profiled: which shapes and numbers its inputs have, by
// --input and --batch; the first is the resident batch, the others are given to the model once.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layers/files/npy.h"
#include "layers/files/onnx.h"
#include "profiler/program/program.h"
#include "profiler/report/text.h"
#include "tensor/memory.h"

// ---- --input -----------------------------------------------------------------------------------
typedef struct Given { // one of them, taken apart
    char name[128];    // "": by its place
    const char *file;  // .npy; NULL: a shape alone
    Shape shape;
} Given;

static bool is_npy(const char *text) {
    size_t n = strlen(text);
    return n > 4 && strcmp(text + n - 4, ".npy") == 0;
}

// "1x3x224x224"
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

// Of a file the shape is read, and nothing more.
static Status take_file_shape(Given *given) {
    Context *context = context_new();
    if (!context) return error_status();
    context_push(context);
    context_set_device(device_meta());
    Tensor *tensor = npy_read_new(given->file);
    if (tensor) given->shape = tensor->shape;
    tensor_free(tensor);
    context_pop();
    context_free(context);
    return error_status();
}

static Status take_apart(const char *text, Given *given) {
    const char *sign = strchr(text, '=');
    *given = (Given){.file = NULL};
    if (sign && sign > text)
        snprintf(given->name, sizeof(given->name), "%.*s", (int)(sign - text), text);
    const char *what = sign ? sign + 1 : text;
    if (is_npy(what)) {
        given->file = what;
        return take_file_shape(given);
    }
    if (sign && read_shape(what, &given->shape)) return STATUS_OK;
    return error_set(STATUS_INVALID_ARGUMENT,
                     "--input %s: expected NAME=1x3x224x224, NAME=FILE.npy or FILE.npy", text);
}

typedef struct Told { // all of them
    Given given[OPTIONS_MAX_INPUTS];
    OnnxShape shapes[OPTIONS_MAX_INPUTS];
    int count;
} Told;

static Status read_inputs(const Options *options, Told *told) {
    *told = (Told){.count = options->n_inputs};
    for (int i = 0; i < told->count; i++) {
        Given *given = &told->given[i];
        Status status = take_apart(options->inputs[i], given);
        if (status) return status;
        told->shapes[i] = (OnnxShape){given->name[0] ? given->name : NULL, given->shape};
    }
    return STATUS_OK;
}

// The place of what was told of an input; -1: nothing was.
static int told_of(const Told *told, const OnnxModel *about, int input) {
    int unnamed = 0;
    for (int i = 0; i < told->count; i++) {
        bool named = told->given[i].name[0] != '\0';
        if (named ? strcmp(told->given[i].name, about->inputs[input].name) == 0
                  : unnamed++ == input)
            return i;
    }
    return -1;
}

// Whatever was told is of an input that there is.
static Status check_told(const Told *told, const OnnxModel *about, const char *file) {
    int used = 0;
    for (int i = 0; i < about->n_inputs; i++) used += told_of(told, about, i) >= 0;
    if (used == told->count) return STATUS_OK;
    char names[200] = "";
    for (int i = 0; i < about->n_inputs; i++) {
        size_t at = strlen(names);
        snprintf(names + at, sizeof(names) - at, "%s%s", i ? ", " : "", about->inputs[i].name);
    }
    return error_set(STATUS_INVALID_ARGUMENT,
                     "--input: %d are given, and %d fit %s, whose inputs are %s", told->count, used,
                     file, names);
}

// ---- the model ---------------------------------------------------------------------------------
// With --batch instead of an --input, the first size of every input is that.
static Layer *load(const Program *program, const Told *told, OnnxModel *about) {
    const Options *options = program->options;
    OnnxOptions how = {.shapes = told->shapes,
                       .n_shapes = told->count,
                       .partial = options->partial};
    Layer *model = onnx_load(program->subject.file, &how, about);
    if (!model || options->batch == 0 || told->count > 0) return model;
    OnnxShape shapes[OPTIONS_MAX_INPUTS];
    char names[OPTIONS_MAX_INPUTS][128];
    int n = about->n_inputs < OPTIONS_MAX_INPUTS ? about->n_inputs : OPTIONS_MAX_INPUTS;
    for (int i = 0; i < n; i++) {
        snprintf(names[i], sizeof(names[i]), "%s", about->inputs[i].name);
        shapes[i] = (OnnxShape){names[i], about->inputs[i].shape};
        if (shapes[i].shape.ndim > 0) shapes[i].shape.dims[0] = options->batch;
    }
    layer_free(model);
    onnx_model_free(about);
    how.shapes = shapes;
    how.n_shapes = n;
    return onnx_load(program->subject.file, &how, about);
}

// Numbers as they were told, or any.
static Tensor *input_new(const Told *told, const OnnxModel *about, int input) {
    const OnnxPort *port = &about->inputs[input];
    int at = told_of(told, about, input);
    Tensor *tensor = at >= 0 && told->given[at].file ? npy_read_new(told->given[at].file) : NULL;
    if (error_pending()) return NULL;
    if (tensor && (DType)tensor->dtype != port->dtype) {
        error_set(STATUS_DTYPE, "--input: %s is %s, and \"%s\" takes %s", told->given[at].file,
                  dtype_name((DType)tensor->dtype), port->name, dtype_name(port->dtype));
        tensor_free(tensor);
        return NULL;
    }
    if (tensor) return tensor;
    if (port->dtype == DTYPE_FLOAT32) return tensor_uniform_new(port->shape, 0.0f, 1.0f);
    if (!context_current()->device->has_data) return tensor_new(port->shape, DTYPE_INT64);
    int64_t *zeros = memory_new((size_t)shape_numel(port->shape) * sizeof(int64_t) + 1);
    tensor = zeros ? tensor_from_labels_new(port->shape, zeros) : NULL; // each table has a row 0
    memory_free(zeros);
    return tensor;
}

static Status give_others(Layer *model, const Told *told, const OnnxModel *about) {
    for (int i = 1; i < about->n_inputs && !error_pending(); i++) {
        Tensor *value = input_new(told, about, i);
        if (value) onnx_give_input(model, i, value);
        tensor_free(value); // the model holds it
    }
    return error_status();
}

Layer *program_onnx_new(const Program *program) {
    Told told;
    OnnxModel about = {.remark = ""};
    if (read_inputs(program->options, &told)) return NULL;
    Layer *model = load(program, &told, &about);
    if (model && give_others(model, &told, &about)) {
        layer_free(model);
        model = NULL;
    }
    onnx_model_free(&about);
    return model;
}

Tensor *program_onnx_input_new(const Program *program) {
    Told told;
    OnnxModel about = {.remark = ""};
    if (read_inputs(program->options, &told)) return NULL;
    Context *context = context_new(); // the file is asked once more for its inputs, not for numbers
    if (!context) return NULL;
    context_push(context);
    context_set_device(device_meta());
    layer_free(load(program, &told, &about));
    context_pop();
    context_free(context);
    Tensor *first = error_pending() ? NULL : input_new(&told, &about, 0);
    onnx_model_free(&about);
    return first;
}

// ---- what is said of it ------------------------------------------------------------------------
void program_onnx_note(const OnnxModel *about, Profile *profile) {
    profile->parameters_stored = about->parameters_stored;
    profile->parameters_guessed = about->parameters_guessed;
    profile->assumed = about->assumed;
    profile->n_assumed = about->n_assumed;
    for (int i = 0; i < about->n_missing && profile->n_uncounted < PROFILE_UNCOUNTED; i++)
        profile->uncounted[profile->n_uncounted++] = about->missing[i].name;
}

enum { MOST_SAID = 3 }; // assumptions that the text names

// One line each, with names from the file as a terminal shows them.
static void list_assumed(const OnnxModel *about, char *text, size_t size) {
    int n = about->n_assumed, said = n > MOST_SAID + 1 ? MOST_SAID : n;
    size_t used = 0;
    for (int i = 0; i < said && used < size; i++) {
        char what[400], taken[400];
        text_take_plain(about->assumed[i].what, what, sizeof(what));
        text_take_plain(about->assumed[i].taken, taken, sizeof(taken));
        used += (size_t)snprintf(text + used, size - used, "%sassumed: %s: %s", i ? "\n" : "", what,
                                 taken);
    }
    if (said < n && used < size)
        snprintf(text + used, size - used, "\nand %d more that --json lists", n - said);
}

static void remark_on(const OnnxModel *about, Subject *subject) {
    char tied[400] = "", missing[900] = "", assumed[1200] = "";
    if (about->parameters_stored != about->parameters)
        snprintf(tied, sizeof(tied), "%s parameters are stored, %s %s",
                 text_count(about->parameters_stored).s, text_count(about->parameters).s,
                 about->parameters_stored > about->parameters
                     ? "when tied ones count once"
                     : "with those that layers alike share in the file");
    for (int i = 0; i < about->n_missing; i++) {
        size_t used = strlen(missing);
        snprintf(missing + used, sizeof(missing) - used, "%s%s (%lld)",
                 i ? ", " : "not counted, because they are missing: ", about->missing[i].name,
                 (long long)about->missing[i].count);
    }
    list_assumed(about, assumed, sizeof(assumed));
    const char *parts[] = {about->remark, tied, missing, assumed};
    size_t used = 0;
    for (int i = 0; i < 4; i++)
        if (parts[i][0] && used < sizeof(subject->remark))
            used += (size_t)snprintf(subject->remark + used, sizeof(subject->remark) - used, "%s%s",
                                     used ? "\n" : "", parts[i]);
}

// --input says the whole shape; a --batch beside it may only say the same.
static Status check_batch(const Options *options, const OnnxPort *first) {
    int64_t here = first->shape.ndim > 0 ? first->shape.dims[0] : 1;
    if (options->batch == 0 || options->batch == here) return STATUS_OK;
    return error_set(STATUS_INVALID_ARGUMENT,
                     "--batch %lld: \"%s\" takes %lld at a time. HINT: --input has its shape, "
                     "without --batch",
                     (long long)options->batch, first->name, (long long)here);
}

static Status take_input(const OnnxModel *about, Subject *subject) {
    if (about->n_inputs == 0)
        return error_set(STATUS_FORMAT, "%s: this model takes no input", subject->file);
    const OnnxPort *first = &about->inputs[0];
    bool ids = first->dtype == DTYPE_INT64, image = first->shape.ndim == 4;
    subject->batch = first->shape.ndim > 0 ? first->shape.dims[0] : 1;
    subject->sample = (Shape){.ndim = first->shape.ndim > 0 ? first->shape.ndim - 1 : 0};
    for (int d = 1; d < first->shape.ndim; d++) subject->sample.dims[d - 1] = first->shape.dims[d];
    subject->unit = ids ? "tokens" : image ? "images" : "samples";
    subject->units_per_sample = ids ? shape_numel(subject->sample) : 1;
    return STATUS_OK;
}

Status program_find_onnx(Program *program) {
    const Options *options = program->options;
    Subject *subject = &program->subject;
    *subject = (Subject){.file = options->model, .is_onnx = true};
    snprintf(subject->name, sizeof(subject->name), "%s", options->model);
    if (options->image[0] || options->tokens || options->classes)
        return error_set(STATUS_INVALID_ARGUMENT,
                         "--image, --tokens and --classes are for networks of --list. HINT: "
                         "--input NAME=1x3x224x224, or --batch");
    if (options->partial && strcmp(options->device, "meta") != 0)
        return error_set(STATUS_INVALID_ARGUMENT,
                         "--partial: what is missing cannot run. HINT: --device meta counts the "
                         "rest");
    Told told;
    OnnxModel *about = &program->onnx;
    if (read_inputs(options, &told)) return error_status();
    Context *context = context_new();
    if (!context) return error_status();
    context_push(context);
    context_set_device(device_meta());
    layer_free(load(program, &told, about));
    context_pop();
    context_free(context);
    Status status = error_pending() ? error_status() : check_told(&told, about, subject->file);
    if (!status) status = take_input(about, subject);
    if (!status) status = check_batch(options, &about->inputs[0]);
    if (!status) remark_on(about, subject);
    return status;
}
