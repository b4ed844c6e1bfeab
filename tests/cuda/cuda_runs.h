// cuda_runs.h -- what the tests of the cuda device run on one device and on another, and all that a
// run leaves behind. Comparing is theirs: test_cuda.c, test_cuda_orders.c, test_cuda_support.c.
#ifndef TESTS_CUDA_CUDA_RUNS_H
#define TESTS_CUDA_CUDA_RUNS_H

#include "layers/train/optimizer.h"
#include "tensor/plugin.h"
#include "tests/ops/op_cases.h"

enum { OUTCOME_MAX_RECORDS = 512 };

typedef struct OutcomeRecord { // an op that ran
    int op;
    OpCost cost;
    // What it met and what it wrote, where that was asked for.
    uint64_t inputs;   // a hash of the bytes of all it was given
    size_t begin, end; // of what it wrote, among the outcome's `written`
} OutcomeRecord;

typedef struct Outcome {
    float *values; // a case: its result, its leaves afterwards, their gradients
    int64_t count; // a training: the loss of each step, then the parameters
    OutcomeRecord records[OUTCOME_MAX_RECORDS];
    int n_records;
    int64_t saved_bytes;
    unsigned char *written;
    size_t written_bytes;
} Outcome;

// Runs a case forward and, where it has one, backward. Fails the test on any error. Yours. With
// every_op, what each op read and wrote is read back right after it: no op runs late then.
Outcome *outcome_of_case(const OpCase *self, Device *device, bool every_op);

typedef struct OutcomeTraining { // an MLP with layers of any size, on one batch
    OptimizerKind optimizer;
    const Op *activation;
    float dropout;
    int steps;
} OutcomeTraining;
enum { OUTCOME_TRAININGS = 2 * OPTIMIZER_COUNT };
OutcomeTraining outcome_training(int index, int steps); // every optimizer, with dropout or without
Outcome *outcome_of_training(OutcomeTraining training, Device *device);

void outcome_free(Outcome *self); // NULL is fine

// NULL when both left the same values, bit for bit, NaN's bits among them; else a text, there until
// the next call, that names the first element that differs.
const char *outcome_difference(const Outcome *a, const Outcome *b);
// The same of what the ops wrote, one after the other: the first op that differs is named, too.
// Both of every_op.
const char *outcome_op_difference(const Outcome *a, const Outcome *b);

#endif
