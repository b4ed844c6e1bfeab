// training.h -- a small training that is to be interrupted: dropout, batch norm, a frozen weight, a
// shuffled loader. Checkpoints of it are files of the test's own folder (byte_file.h).
#ifndef TESTS_HELPERS_TRAINING_H
#define TESTS_HELPERS_TRAINING_H

#include "layers/files/checkpoint.h"
#include "layers/train/fit.h"

enum {
    TRAINING_IMAGES = 22,
    TRAINING_PIXELS = 6,
    TRAINING_CLASSES = 3,
    TRAINING_BATCH = 4,
    TRAINING_BATCHES = 6,
    TRAINING_STEPS = 2 * TRAINING_BATCHES + 2,
    TRAINING_KINDS = 6
};

typedef struct Training {
    OptimizerKind kind;
    int prefetch;
    bool tied;
} Training;
extern const Training training_kinds[TRAINING_KINDS]; // each optimizer
extern const Dataset training_dataset;                // filled by training_new
extern const Schedule training_schedule;

Checkpoint training_new(Training with, uint64_t seed);
void training_free(Checkpoint *training);
double training_step(Checkpoint *training); // with a new epoch where one is over; the loss

// Fails the test unless the state is that of the checkpoint in this file: its own file is the same.
void training_expect(const Checkpoint *one, const char *file);

#endif
