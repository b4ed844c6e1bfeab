// cuda_runs.h -- runs for the tests of the cuda device on this and on another device, and their
// complete results. test_cuda.c, test_cuda_orders.c and test_cuda_support.c compare them.
#ifndef TESTS_CUDA_CUDA_RUNS_H
#define TESTS_CUDA_CUDA_RUNS_H

#include "layers/train/optimizer.h"
#include "tensor/plugin.h"
#include "tests/ops/op_cases.h"

enum { OUTCOME_MAX_RECORDS = 512 };

typedef struct OutcomeRecord { // one op that ran
    int op;
    OpCost cost;
    // The op's inputs and results, if they were asked for.
    uint64_t inputs;   // a hash of the bytes of all its inputs
    size_t begin, end; // range of its results in the outcome's `written`
} OutcomeRecord;

typedef struct Outcome {
    float *values; // of a case: result, leaves afterwards, their gradients
    int64_t count; // of a training: the loss of each step, then the parameters
    OutcomeRecord records[OUTCOME_MAX_RECORDS];
    int n_records;
    int64_t saved_bytes;
    unsigned char *written;
    size_t written_bytes;
} Outcome;

// Runs a case forward and, if it has one, backward. Fails the test on any error. Free the outcome.
// With every_op, each op's inputs and results are read back right after it: no op runs late.
Outcome *outcome_of_case(const OpCase *self, Device *device, bool every_op);

typedef struct OutcomeTraining { // an MLP with layers of any size, on one batch
    OptimizerKind optimizer;
    const Op *activation;
    float dropout;
    int steps;
} OutcomeTraining;
enum { OUTCOME_TRAININGS = 2 * OPTIMIZER_COUNT };
OutcomeTraining outcome_training(int index, int steps); // all optimizers, with and without dropout
Outcome *outcome_of_training(OutcomeTraining training, Device *device);

void outcome_free(Outcome *self); // NULL is allowed

// NULL when both have the same values, bit for bit, NaN's bits included; else a text, valid until
// the next call, that names the first element that differs.
const char *outcome_difference(const Outcome *a, const Outcome *b);
// Compares the results of all ops, one after the other, and also names the first op that differs.
// Both outcomes need every_op.
const char *outcome_op_difference(const Outcome *a, const Outcome *b);

#endif
