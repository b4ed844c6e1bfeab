// budget.h -- what fits into a number of bytes: the largest batch, the peak with each optimizer,
// the layers to recompute.
// Dry runs of the model's own step predict the peaks, which equal those that a run measures. Bytes
// are requested bytes of the model, its gradients, the optimizer, the batch and all values of a
// step; other live tensors are not counted.
#ifndef PROFILER_ADVICE_BUDGET_H
#define PROFILER_ADVICE_BUDGET_H

#include "profiler/measure/profile.h"

RIDGEPOINT_API_BEGIN

typedef struct Budget {
    int64_t batch;          // largest batch whose peak fits; 0: not even `least` samples fit
    int64_t least;          // fewest samples that a step takes: 1, or 2 if the model refuses 1
    int64_t peak_bytes;     // of a step of that batch; 0 with batch 0
    int64_t next_bytes;     // peak with one more sample, which does not fit; INT64_MAX: overflow
    int64_t measured_bytes; // peak of a real step of that batch; -1: not verified (not asked for,
                            // meta, no memory for it, or a loss that is not finite)
} Budget;

typedef struct BudgetTask { // the step in question
    Layer *model;
    const Tensor *x;      // a batch of any size: only its shape after the batch dimension matters
    const Tensor *labels; // of that batch; NULL: one label per sample
    LossFunction loss;    // NULL: loss_cross_entropy
    int64_t accumulate;   // batches in a step (FitOptions.accumulate); 0: 1
    ProfileKind kind;     // for budget_largest_batch: PROFILE_TRAINING, or PROFILE_INFERENCE, which
                          // has neither labels nor loss nor optimizer
    ModelSource source;   // makes the model for other batches if its batch is fixed
    // budget_recompute may try a thousand sets, and calls this after each; may be NULL.
    void (*progress)(void *argument, int64_t tried);
    void *argument;
} BudgetTask;

// bytes: 0 to 2^60. Searches by about five dry runs. With `verify`, and if model and x have data,
// then runs two steps of that batch on uniform x and reads the ledger, which resets the ledger's
// peak and empties its cache. (With a source, another model runs them.) Weights, modes and random
// state stay as they are. Only `verify` overwrites gradients. *budget is written on success.
Status budget_largest_batch(const BudgetTask *task, OptimizerConfig optimizer, int64_t bytes,
                            bool verify, Budget *budget);

// Peak bytes of that step with each optimizer's defaults, by one dry run each. peak is written on
// success.
Status budget_by_optimizer(const BudgetTask *task, int64_t peak[OPTIMIZER_COUNT]);

// ---- recomputation -----------------------------------------------------------------------------
typedef struct RecomputeChoice {
    bool fits;                       // the peak is at most the budget
    int64_t layers;                  // number of marked layers
    int64_t refused;                 // layers left out: tried alone, they cannot be run again
    int64_t plain_bytes, peak_bytes; // peak of a training step without marks, and with them
    uint64_t plain_flops, flops;     // FLOPs of that step without marks, and with them
    int64_t runs;                    // number of dry runs
} RecomputeChoice;

// Chooses the layers to run again in backward (layer_recompute), so that a training step's peak
// fits into `bytes`, 0 to 2^60, for few additional FLOPs; marks only these layers. A dry run
// predicts each candidate set: all layers of one depth, for each depth, and all layers, nested; and
// each of these without as many layers as possible, dropped in three orders (fewest saved bytes per
// FLOP first, most FLOPs first, last layers first). The set that fits with the fewest FLOPs is
// marked; a set with fewer may exist. If none fits, the set with the lowest peak is marked, and
// `fits` is false. Weights and gradients are not touched. On success, the marks change and *choice
// is written.
//
//     RecomputeChoice choice;
//     BudgetTask task = {.model = model, .x = x, .labels = labels};
//     budget_recompute(&task, optimizer_defaults(OPTIMIZER_ADAM), 2000000000, &choice);
//     train_fit(model, optimizer, loader, options, &result); // at a peak of choice.peak_bytes
Status budget_recompute(const BudgetTask *task, OptimizerConfig optimizer, int64_t bytes,
                        RecomputeChoice *choice);

RIDGEPOINT_API_END

#endif
