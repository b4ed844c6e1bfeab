// model_values.h -- what tests of whole models share with tests/fixtures/make_*.py: numbers made
// from their place alone, a digest of a model's weights by name and shape, and the sums that a
// gradient is compared by.
#ifndef TESTS_HELPERS_MODEL_VALUES_H
#define TESTS_HELPERS_MODEL_VALUES_H

#include "layers/layer.h"

double model_mixed(int64_t place); // from -0.5 to 0.5
Tensor *model_input_new(Shape shape, int64_t at);
Tensor *model_tokens_new(Shape shape, int64_t first, int64_t count, int64_t at); // from first on

// Each parameter by its place among all: `scale` times mixed numbers; 1 is added to what norms
// multiply by.
void model_fill(Layer *model, double scale);

#define MODEL_DIGEST_BEGIN UINT64_C(0xcbf29ce484222325)
uint64_t model_digest(uint64_t value, const char *text); // FNV-1a, continued
// As "conv1.weight (64,3,7,7)", a line each.
uint64_t model_state_digest(const Layer *model);

// What a gradient comes to: its norm, and its product with mixed numbers.
void model_sums(const Tensor *grad, double sums[2]);

// Runs the model, and backward from mixed numbers: fails the test unless the results, one after the
// other, and the sums of each parameter's gradient are these.
typedef struct ModelStep {
    Tensor *in[4];
    int n_in, n_out;
    const double *results, *gradients;
} ModelStep;
void model_check_step(Layer *model, const ModelStep *step);

// Makes a layer, runs it on `in`, and backward from the mean of its result, while one request after
// the other fails, up to the last: fails the test unless each is reported and everything is freed,
// or where there are not more than `least` of them.
typedef Layer *(*LayerMaker)(const void *of);
void model_check_failures(LayerMaker make, const void *of, Tensor *const in[], int n_in, int least);

// What a step did: forward, and backward from the mean of the results.
typedef struct ModelRun {
    OpCost phase[PHASE_COUNT];
    int64_t ops, saved_bytes;
    MemoryUse peak; // of a dry run without the input
} ModelRun;

// A step of the model as it is, by a dry run and then really: fails the test unless both run as
// many ops at the same costs, keep as many bytes for backward and have the same peaks. Gives the
// real one. Only model and input may be live.
ModelRun model_check_dry_run(Layer *model, Tensor *x);

#endif
