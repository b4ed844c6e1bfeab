// training.h -- a small training for tests that interrupt it: dropout, batch norm, a frozen weight,
// a shuffled loader. Its checkpoints are files in the test's own folder (byte_file.h).
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
extern const Training training_kinds[TRAINING_KINDS]; // one entry per optimizer
extern const Dataset training_dataset;                // filled by training_new
extern const Schedule training_schedule;

Checkpoint training_new(Training with, uint64_t seed);
void training_free(Checkpoint *training);
double training_step(Checkpoint *training); // one step, in a new epoch if needed; the loss

// Fails the test unless saving this state gives exactly the bytes of the given checkpoint file.
void training_expect(const Checkpoint *one, const char *file);

#endif
