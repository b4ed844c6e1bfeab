// program_onnx.c -- profiles an ONNX file, for the given batch or another one. The resident batch
// is the input whose first dimension is the batch, or else the first input; the model gets the
// other inputs once. Not here: parsing --input and --size (program_inputs.c).
#include <stdio.h>
#include <string.h>

#include "layers/files/npy.h"
#include "layers/files/onnx.h"
#include "profiler/base/text.h"
#include "profiler/program/program.h"
#include "profiler/program/program_inputs.h"
#include "tensor/memory.h"

// ---- the model ---------------------------------------------------------------------------------
static Layer *load(const Program *program, const Inputs *told, OnnxModel *about) {
    const Options *options = program->options;
    bool other = program->other_batch > 0;
    OnnxOptions how = {.shapes = told->shapes,
                       .n_shapes = told->n,
                       .sizes = told->sizes,
                       .n_sizes = told->n_sizes,
                       .batch = other ? program->other_batch : options->batch,
                       .other_batch = other,
                       .batch_first = true,
                       .partial = options->partial};
    return onnx_load(program->subject.file, &how, about);
}

// Reads the file's description on the meta device, without its numbers.
static Status look_at(const Program *program, const Inputs *told, OnnxModel *about) {
    Context *context = context_new();
    if (!context) return error_status();
    context_push(context);
    context_set_device(device_meta());
    layer_free(load(program, told, about));
    context_pop();
    context_free(context);
    return error_status();
}

static Tensor *zeros_new(Shape shape) { // every table has a row 0
    if (!context_current()->device->has_data) return tensor_new(shape, DTYPE_INT64);
    int64_t *zeros = memory_new((size_t)shape_numel(shape) * sizeof(int64_t) + 1);
    Tensor *tensor = zeros ? tensor_from_labels_new(shape, zeros) : NULL;
    memory_free(zeros);
    return tensor;
}

// The given numbers, or arbitrary ones if none are given or the batch is another.
static Tensor *input_new(const Inputs *told, const OnnxModel *about, int input) {
    const OnnxPort *port = &about->inputs[input];
    const GivenInput *given = port->told >= 0 ? &told->given[port->told] : NULL;
    if (given && given->file && shape_equal(given->shape, port->shape))
        return npy_read_new(given->file);
    return port->dtype == DTYPE_FLOAT32 ? tensor_uniform_new(port->shape, 0.0f, 1.0f)
                                        : zeros_new(port->shape);
}

static Status give_others(Layer *model, const Inputs *told, const OnnxModel *about) {
    for (int i = 1; i < about->n_inputs && !error_pending(); i++) {
        Tensor *value = input_new(told, about, i);
        if (value) onnx_give_input(model, i, value);
        tensor_free(value); // the model holds it
    }
    return error_status();
}

Layer *program_onnx_new(const Program *program) {
    Inputs told;
    OnnxModel about = {.remark = ""};
    Layer *model = inputs_read(program->options, &told) ? NULL : load(program, &told, &about);
    if (model && give_others(model, &told, &about)) {
        layer_free(model);
        model = NULL;
    }
    inputs_free(&told);
    onnx_model_free(&about);
    return model;
}

Tensor *program_onnx_input_new(const Program *program) {
    Inputs told;
    OnnxModel other = {.remark = ""};
    Status status = inputs_read(program->options, &told);
    if (!status && program->other_batch > 0) status = look_at(program, &told, &other);
    const OnnxModel *about = program->other_batch > 0 ? &other : &program->onnx;
    Tensor *first = status ? NULL : input_new(&told, about, 0);
    inputs_free(&told);
    onnx_model_free(&other);
    return first;
}

static Layer *model_at(void *argument, int64_t batch) {
    Program other = *(const Program *)argument;
    other.other_batch = batch;
    Layer *model = program_model_new(&other);
    bool folds = model && other.options->inference && other.options->fuse;
    Tensor *x = folds ? program_onnx_input_new(&other) : NULL;
    int64_t folded;
    if (x) layer_fold_norms(model, &x, 1, &folded);
    tensor_free(x);
    if (!error_pending()) return model;
    layer_free(model);
    return NULL;
}

ModelSource program_source(const Program *program) {
    const OnnxModel *about = &program->onnx;
    bool open = program->subject.is_onnx && about->n_inputs > 0 && about->inputs[0].batched;
    return (ModelSource){open ? model_at : NULL, (void *)(uintptr_t)program};
}

// Loads the file for another batch; the reader then reports numbers that fit only one batch.
Status program_onnx_batches(const Program *program) {
    Program other = *program;
    const Options *options = program->options;
    if (options->n_inputs == 0 || !options->model || !options_is_onnx(options->model))
        return STATUS_OK;
    Inputs told;
    OnnxModel about = {.remark = ""};
    other.other_batch = 1;
    other.subject.file = options->model;
    if (!inputs_read(options, &told)) look_at(&other, &told, &about);
    error_clear(); // each point reports its other misfits
    for (int i = 0; i < about.n_inputs && !error_pending(); i++)
        if (about.inputs[i].decides)
            error_set(STATUS_INVALID_ARGUMENT,
                      "--sweep batch: the numbers told of input \"%s\" decide shapes, and are for "
                      "one batch. HINT: a run of its own for each, with --batch and --input "
                      "%s=FILE.npy",
                      about.inputs[i].name, about.inputs[i].name);
    inputs_free(&told);
    onnx_model_free(&about);
    return error_status();
}

// ---- remarks on the file -----------------------------------------------------------------------
void program_onnx_note(const OnnxModel *about, Profile *profile) {
    profile->parameters_stored = about->parameters_stored;
    profile->parameters_guessed = about->parameters_guessed;
    profile->assumed = about->assumed;
    profile->n_assumed = about->n_assumed;
    for (int i = 0; i < about->n_missing && profile->n_uncounted < PROFILE_UNCOUNTED; i++)
        profile->uncounted[profile->n_uncounted++] = about->missing[i].name;
}

enum { MOST_SAID = 3 }; // most assumptions listed in the text

// One line per assumption, with the file's names made safe for a terminal.
static void list_assumed(const OnnxModel *about, char *text, size_t size) {
    int n = about->n_assumed, said = n > MOST_SAID + 1 ? MOST_SAID : n;
    size_t used = 0;
    for (int i = 0; i < said && used < size; i++) {
        char what[400], taken[400];
        bool batch = strncmp(about->assumed[i].what, "batch size", 10) == 0;
        text_take_plain(about->assumed[i].what, what, sizeof(what));
        text_take_plain(about->assumed[i].taken, taken, sizeof(taken));
        used += (size_t)snprintf(text + used, size - used, "%sassumed: %s: %s%s", i ? "\n" : "",
                                 what, taken, batch ? ". HINT: --batch N takes another" : "");
    }
    if (said < n && used < size)
        snprintf(text + used, size - used, "\nand %d more that --json lists", n - said);
}

static void say_tied(const OnnxModel *about, char *text, size_t size) {
    if (about->parameters_stored == about->parameters) return;
    snprintf(text, size, "%s parameters are stored, %s %s", text_count(about->parameters_stored).s,
             text_count(about->parameters).s,
             about->parameters_stored > about->parameters
                 ? "are counted: tied ones once, buffers and unread ones not"
                 : "with those that layers alike share in the file");
}

static void say_missing(const OnnxModel *about, char *text, size_t size) {
    for (int i = 0; i < about->n_missing; i++) {
        size_t used = strlen(text);
        snprintf(text + used, size - used, "%s%s (%lld)",
                 i ? ", " : "not counted, because they are missing: ", about->missing[i].name,
                 (long long)about->missing[i].count);
    }
}

static bool is_drawn(const Inputs *told, const OnnxPort *port) {
    return port->told < 0 || !told->given[port->told].file;
}

static void remark_on(const OnnxModel *about, const char *drawn, Subject *subject) {
    char assumed[1200] = "", tied[400] = "", missing[900] = "";
    list_assumed(about, assumed, sizeof(assumed));
    say_tied(about, tied, sizeof(tied));
    say_missing(about, missing, sizeof(missing));
    const char *parts[] = {about->remark, assumed, tied, missing, drawn};
    size_t used = 0;
    for (int i = 0; i < 5; i++)
        if (parts[i][0] && used < sizeof(subject->remark))
            used += (size_t)snprintf(subject->remark + used, sizeof(subject->remark) - used, "%s%s",
                                     used ? "\n" : "", parts[i]);
}

// Refuses to write outputs of some numbers that were given and others that would be drawn.
static Status check_drawn(const Options *options, const Inputs *told, const OnnxModel *about) {
    const char *drawn = NULL;
    bool given = false;
    for (int i = 0; i < about->n_inputs; i++) {
        if (!is_drawn(told, &about->inputs[i]))
            given = true;
        else if (!drawn)
            drawn = about->inputs[i].name;
    }
    if (!options->output || !given || !drawn) return STATUS_OK;
    return error_set(STATUS_INVALID_ARGUMENT,
                     "--output: what is written depends on input \"%s\", whose numbers are not "
                     "given. HINT: --input %s=FILE.npy",
                     drawn, drawn);
}

static Status take_input(const OnnxModel *about, Subject *subject) {
    if (about->n_inputs == 0)
        return error_set(STATUS_FORMAT,
                         "%s: this model has no input, so that nothing runs in it. HINT: export "
                         "it with its inputs as inputs, not as constants",
                         subject->file);
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
    Inputs told;
    OnnxModel *about = &program->onnx;
    Status status = inputs_read(options, &told);
    if (!status) status = look_at(program, &told, about);
    if (!status) status = inputs_check(&told, about, subject->file);
    if (!status) status = check_drawn(options, &told, about);
    if (!status) status = take_input(about, subject);
    if (!status) status = program_check_outputs(program);
    const char *drawn = "";
    if (!status && options->output && is_drawn(&told, &about->inputs[0]))
        drawn = "the outputs are those of inputs drawn at random. HINT: --input NAME=FILE.npy";
    if (!status) remark_on(about, drawn, subject);
    inputs_free(&told);
    return status;
}
