// program_data.c -- the training data of a program: images from a folder, or generated. Not here:
// texts (program_text.c).
#include <math.h>
#include <string.h>

#include "layers/files/idx.h"
#include "layers/train/digits.h"
#include "profiler/program/program.h"
#include "tensor/pool.h"

enum { TRAIN_DIGITS = 10000, TEST_DIGITS = 2000 };

// True if the input has one number per pixel: (784) or (1, 28, 28).
static bool takes_pixels(const Subject *subject, int64_t rows, int64_t columns) {
    const Shape *s = &subject->sample;
    if (s->ndim == 1) return s->dims[0] == rows * columns;
    return s->ndim == 3 && s->dims[0] == 1 && s->dims[1] == rows && s->dims[2] == columns;
}

// Finds the classes of a model given as text from its output shape on the meta device.
static Status find_classes(Program *program) {
    Context *context = context_new();
    if (!context) return error_status();
    context_push(context);
    context_set_device(device_meta());
    Program trial = *program;
    trial.model = program_model_new(&trial);
    Status status = trial.model ? program_batch_new(&trial) : error_status();
    program->subject.classes = trial.subject.classes;
    tensor_free(trial.x);
    tensor_free(trial.labels);
    layer_free(trial.model);
    context_pop();
    context_free(context);
    return status;
}

static Status check_fit(const Subject *subject, const Dataset *data) {
    if (takes_pixels(subject, data->rows, data->columns) && subject->classes >= data->classes)
        return STATUS_OK;
    int64_t pixels = data->rows * data->columns;
    if (!subject->network && !subject->text && !subject->file)
        return error_set(
            STATUS_FORMAT,
            "--data: %s has %lld pixels an image and %d classes, the model %lld inputs and "
            "%lld outputs. HINT: --layers %lld,...,%d",
            data->name, (long long)pixels, data->classes, (long long)subject->sample.dims[0],
            (long long)subject->classes, (long long)pixels, data->classes);
    return error_set(STATUS_FORMAT,
                     "--data: %s has images of 1x%lldx%lld and %d classes, and %s does not take "
                     "them. HINT: mnist-cnn does",
                     data->name, (long long)data->rows, (long long)data->columns, data->classes,
                     subject->name);
}

// Sets the reason if there will be no training.
static void find_absent(Program *program) {
    const Options *options = program->options;
    const Subject *subject = &program->subject;
    ProfileTraining *training = &program->training;
    bool digits = takes_pixels(subject, DIGITS_SIDE, DIGITS_SIDE) && subject->classes >= 10;
    bool drawn = digits || program_takes_text(subject);
    if (options->epochs == 0)
        training->absent = "--epochs 0";
    else if (!program->device->has_data)
        training->absent = "nothing runs on the meta device";
    else if (subject->is_onnx && !drawn)
        training->absent = "an ONNX file's network is not trained on images";
    else if (!options->data && !drawn)
        training->absent = "drawn digits have 784 pixels, 10 classes";
}

// Fails if a flag asks for training that is impossible; default training is just left out.
static Status refuse_absent(const Program *program) {
    const Options *options = program->options;
    const char *asked = options->checkpoint   ? "checkpoint"
                        : options->resume     ? "resume"
                        : options->steps > 0  ? "steps"
                        : options->has_epochs ? "epochs"
                                              : NULL;
    if (!asked || options->epochs == 0 || !program->training.absent) return STATUS_OK;
    return error_set(STATUS_INVALID_ARGUMENT, "--%s: %s does not train: %s. HINT: %s", asked,
                     program->subject.name, program->training.absent,
                     program->device->has_data ? "--data takes others" : "--device cpu");
}

static Status load_images(Program *program) {
    const Options *options = program->options;
    Images *images = &program->images;
    if (options->data) { // an error even if unused
        Status status =
            dataset_read_folder(options->data, &images->train, &images->test, &images->was_split);
        if (!status) status = check_fit(&program->subject, &images->train);
        if (status) return status;
    }
    if (program->training.absent || options->data) return STATUS_OK;
    Status status =
        digits_generate(TRAIN_DIGITS + TEST_DIGITS, (uint64_t)options->seed, &images->train);
    return status ? status : dataset_split(&images->train, TEST_DIGITS, 0, &images->test);
}

Status program_load(Program *program) {
    const Options *options = program->options;
    bool texts = program_takes_text(&program->subject), told = program->subject.is_onnx || texts;
    bool unknown = !told && program->subject.classes == 0;
    if (unknown && (options->data || options->epochs != 0) && find_classes(program))
        return error_status();
    find_absent(program);
    bool warm = !isnan(options->temperature) && !options->generate;
    if (!texts && (options->prompt || warm || options->sample >= 0))
        return error_set(STATUS_INVALID_ARGUMENT, "--%s: %s writes no text. HINT: char-gpt does",
                         options->prompt ? "prompt"
                         : warm          ? "temperature"
                                         : "sample",
                         program->subject.name);
    if (refuse_absent(program)) return error_status();
    return texts ? program_load_text(program) : load_images(program);
}

bool program_has_data(const Program *program) {
    return program->images.train.count > 0 || program->texts.train.count > 0;
}

bool program_planes(const Program *program) { return program->subject.sample.ndim == 3; }

Loader *program_loader_new(const Program *program) {
    const Options *options = program->options;
    bool spare_core = context_current()->threads < pool_default_threads();
    LoaderOptions load = {.batch = program->subject.batch,
                          .shuffle = true,
                          .scale = 1.0f,
                          .seed = (uint64_t)options->seed,
                          .prefetch = spare_core ? 2 : 0, // else loading only competes
                          .planes = program_planes(program)};
    return program->texts.train.count > 0
               ? corpus_loader_new(&program->texts.train, program->subject.sample.dims[0], load)
               : loader_new(&program->images.train, load);
}
