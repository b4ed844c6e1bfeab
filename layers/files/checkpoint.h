// checkpoint.h -- training that can be interrupted: all the state of a run, in one file.
//
//     Checkpoint now = {.model = model, .optimizer = optimizer, .loader = loader, .step = 500};
//     checkpoint_write(&now, "run.safetensors");
//
//     checkpoint_read(&now, "run.safetensors"); // into three that another process made anew
//     options.steps_done = now.step;            // 500
//     train_fit(model, optimizer, loader, options, &result);
//
// The steps that follow are those of an uninterrupted run, bit for bit, with the same build and
// kind of machine. The program itself restores its own settings: which parameters are frozen (other
// ones are an error), and layer_train.
#ifndef LAYERS_FILES_CHECKPOINT_H
#define LAYERS_FILES_CHECKPOINT_H

#include "layers/train/dataset.h"
#include "layers/train/optimizer.h"
#include "layers/train/schedule.h"

RIDGEPOINT_API_BEGIN

typedef struct Checkpoint {
    Layer *model;         // borrowed, as are the others
    Optimizer *optimizer; // NULL: its state is neither written nor read
    Loader *loader;       // NULL: likewise
    Schedule *schedule;   // NULL: likewise
    int64_t step, epoch;  // that are done: yours, from 0 on
} Checkpoint;

// Writes a safetensors file: model.<path> as in layer_state, and optimizer.<path>.<state>; texts in
// its metadata hold the optimizer's settings and step count, seed and offset of the context's
// random numbers, the loader's position and its data's fingerprint, the schedule, step and epoch.
// The file appears whole and on the disk, or an existing one stays as it was, however the program
// ends meanwhile. STATUS_IO; STATUS_DEVICE on meta.
Status checkpoint_write(const Checkpoint *checkpoint, const char *path);

// Sets the model's weights, the optimizer's state and settings, the loader's position, the
// schedule, the current context's random numbers, step and epoch. Nothing changes until all was
// found to fit: STATUS_IO, STATUS_FORMAT; STATUS_INVALID_ARGUMENT, STATUS_SHAPE, STATUS_DTYPE: the
// file belongs to another model, optimizer, loader or other data (LoaderPosition), or holds entries
// that belong to none; or, with an optimizer, other parameters are frozen.
Status checkpoint_read(Checkpoint *checkpoint, const char *path);

RIDGEPOINT_API_END

#endif
