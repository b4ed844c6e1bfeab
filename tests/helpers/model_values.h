// model_values.h -- helpers that tests of whole models share with tests/fixtures/make_*.py: numbers
// computed from their place alone, a digest of a model's weights by name and shape, and the sums by
// which gradients are compared.
#ifndef TESTS_HELPERS_MODEL_VALUES_H
#define TESTS_HELPERS_MODEL_VALUES_H

#include "layers/layer.h"

double model_mixed(int64_t place); // a number in -0.5 .. 0.5
Tensor *model_input_new(Shape shape, int64_t at);
Tensor *model_tokens_new(Shape shape, int64_t first, int64_t count, int64_t at); // ids >= first

// Fills each parameter from its place among all: `scale` times mixed numbers; the factors of norms
// get 1 more.
void model_fill(Layer *model, double scale);

#define MODEL_DIGEST_BEGIN UINT64_C(0xcbf29ce484222325)
uint64_t model_digest(uint64_t value, const char *text); // continues an FNV-1a hash
// The digest of lines such as "conv1.weight (64,3,7,7)", one per tensor of the state.
uint64_t model_state_digest(const Layer *model);

// Two numbers that stand for a gradient: its norm, and its dot product with mixed numbers.
void model_sums(const Tensor *grad, double sums[2]);

// Runs the model, and backward from mixed numbers. Fails the test unless the results, one after the
// other, and the sums of each parameter's gradient equal those in `step`.
typedef struct ModelStep {
    Tensor *in[4];
    int n_in, n_out;
    const double *results, *gradients;
} ModelStep;
void model_check_step(Layer *model, const ModelStep *step);

// Makes a layer, runs it on `in`, and backward from the mean of its result, while each allocation
// in turn fails, up to the last. Fails the test unless each failure is reported and everything is
// freed, or if there are not more than `least` allocations.
typedef Layer *(*LayerMaker)(const void *of);
void model_check_failures(LayerMaker make, const void *of, Tensor *const in[], int n_in, int least);

// The measurements of one step: forward, and backward from the mean of the results.
typedef struct ModelRun {
    OpCost phase[PHASE_COUNT];
    int64_t ops, saved_bytes;
    MemoryUse peak; // peak of a dry run, without the input
} ModelRun;

// Runs a step of the model as a dry run and then really. Fails the test unless both run as many ops
// at the same costs, keep as many bytes for backward and have the same peaks. Returns the real run.
// Only the model and its input may be live.
ModelRun model_check_dry_run(Layer *model, Tensor *x);

#endif
