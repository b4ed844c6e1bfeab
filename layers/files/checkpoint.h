// checkpoint.h -- training that can be interrupted: all that its next steps depend on, in one file.
//
//     Checkpoint now = {.model = model, .optimizer = optimizer, .loader = loader, .step = 500};
//     checkpoint_write(&now, "run.safetensors");
//
//     checkpoint_read(&now, "run.safetensors"); // into three that another process made anew
//     options.steps_done = now.step;            // 500
//     train_fit(model, optimizer, loader, options, &result);
//
// The steps that follow are those of a run that was never interrupted, bit for bit, with the same
// build and kind of machine. What a program decides itself it also sets again itself: which
// parameters are frozen (others are an error), and layer_train.
#ifndef LAYERS_FILES_CHECKPOINT_H
#define LAYERS_FILES_CHECKPOINT_H

#include "layers/train/dataset.h"
#include "layers/train/optimizer.h"
#include "layers/train/schedule.h"

RIDGEPOINT_API_BEGIN

typedef struct Checkpoint {
    Layer *model;         // borrowed, as are the others
    Optimizer *optimizer; // NULL: its state is neither written nor read
    Loader *loader;       // NULL: the same
    Schedule *schedule;   // NULL: the same
    int64_t step, epoch;  // that are done: yours, from 0 on
} Checkpoint;

// A safetensors file: model.<path> as layer_state has it, optimizer.<path>.<what it keeps>; and as
// texts in its metadata the optimizer's settings and count of steps, seed and offset of the
// context's random numbers, the loader's place and its data's fingerprint, the schedule, step and
// epoch. It appears whole, and on the disk,
// or what was there stays as it was, whatever ends the program meanwhile. STATUS_IO; STATUS_DEVICE
// on meta.
Status checkpoint_write(const Checkpoint *checkpoint, const char *path);

// Sets the model's weights, the optimizer's state and settings, the loader's place, the schedule,
// the current context's random numbers, step and epoch. Until all was found to fit, nothing
// changes: STATUS_IO, STATUS_FORMAT; STATUS_INVALID_ARGUMENT, STATUS_SHAPE, STATUS_DTYPE: it is of
// another model, optimizer, loader, or other data (LoaderPosition), or holds what is of none; or,
// with an optimizer, other parameters are frozen.
Status checkpoint_read(Checkpoint *checkpoint, const char *path);

RIDGEPOINT_API_END

#endif
