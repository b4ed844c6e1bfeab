// program_data.c -- the images that profile_mlp trains on: a folder's, or drawn.
#include <string.h>

#include "layers/train/digits.h"
#include "layers/train/idx.h"
#include "profiler/program/program.h"
#include "tensor/pool.h"

enum { TRAIN_DIGITS = 10000, TEST_DIGITS = 2000 };

static Status check_fit(const Options *options, const Dataset *data) {
    int64_t pixels = data->rows * data->columns;
    int64_t in = options->layers[0], out = options->layers[options->n_layers - 1];
    if (in == pixels && out >= data->classes) return STATUS_OK;
    return error_set(
        STATUS_FORMAT,
        "--data: %s has %lld pixels an image and %d classes, the model %lld inputs and "
        "%lld outputs. HINT: --layers %lld,...,%d",
        data->name, (long long)pixels, data->classes, (long long)in, (long long)out,
        (long long)pixels, data->classes);
}

// Whether there is anything to train on; when not, why.
static bool can_train(Program *program) {
    const Options *options = program->options;
    ProfileTraining *training = &program->training;
    int64_t in = options->layers[0], out = options->layers[options->n_layers - 1];
    bool fits = options->data || (in == DIGITS_SIDE * DIGITS_SIDE && out >= 10);
    if (options->epochs == 0)
        training->absent = "--epochs 0";
    else if (!program->device->has_data)
        training->absent = "nothing runs on the meta device";
    else if (!fits)
        training->absent = "drawn digits have 784 pixels and 10 classes";
    return !training->absent;
}

Status program_load(Program *program) {
    const Options *options = program->options;
    Images *images = &program->images;
    if (options->data) { // what cannot be read is told, whether it will be used or not
        Status status =
            dataset_read_folder(options->data, &images->train, &images->test, &images->was_split);
        if (!status) status = check_fit(options, &images->train);
        if (status) return status;
    }
    bool train = can_train(program);
    if (!train || options->data) return STATUS_OK;
    Status status =
        digits_generate(TRAIN_DIGITS + TEST_DIGITS, (uint64_t)options->seed, &images->train);
    return status ? status : dataset_split(&images->train, TEST_DIGITS, 0, &images->test);
}

Loader *program_loader_new(const Program *program) {
    const Options *options = program->options;
    bool spare_core = context_current()->threads < pool_default_threads();
    LoaderOptions load = {.batch = options->batch,
                          .shuffle = true,
                          .scale = 1.0f,
                          .seed = (uint64_t)options->seed,
                          .prefetch = spare_core ? 2 : 0}; // else it would only take turns with us
    return loader_new(&program->images.train, load);
}
