// budget.h -- what would fit: the largest batch for so many bytes, what each optimizer needs, and
// which layers to recompute.
// Predicted by dry runs of the model's own step, so equal to what a run will measure. Bytes are
// requested ones, of the model, its gradients, the optimizer, the batch and all that a step makes;
// nothing else that is alive is counted.
#ifndef PROFILER_ADVICE_BUDGET_H
#define PROFILER_ADVICE_BUDGET_H

#include "profiler/measure/profile.h"

RIDGEPOINT_API_BEGIN

typedef struct Budget {
    int64_t batch;          // the largest whose peak fits; 0: not even `least` samples
    int64_t least;          // the fewest samples that a step takes: 1, or 2 where 1 is refused
    int64_t peak_bytes;     // of a step of that batch; 0 with batch 0
    int64_t next_bytes;     // of one sample more: does not fit; INT64_MAX: 64 bits do not count it
    int64_t measured_bytes; // peak of a real step of that batch; -1: not verified (not asked for,
                            // meta, no memory for it, or a loss that is not finite)
} Budget;

typedef struct BudgetTask { // the step in question
    Layer *model;
    const Tensor *x;      // a batch of any size: its shape behind the batch counts
    const Tensor *labels; // of that batch; NULL: one label per sample
    LossFunction loss;    // NULL: loss_cross_entropy
    int64_t accumulate;   // batches in a step (FitOptions.accumulate); 0: 1
    ProfileKind kind;     // for budget_largest_batch: PROFILE_TRAINING, or PROFILE_INFERENCE, which
                          // has neither labels nor loss nor optimizer
    ModelSource source;   // makes the model for other batches, where its batch is written into it
    // Of budget_recompute, which may try a thousand sets: after each, how many. May be NULL.
    void (*progress)(void *argument, int64_t tried);
    void *argument;
} BudgetTask;

// bytes: 0 to 2^60. Searches by dry runs, about five; then, with `verify`
// and where model and x have data, runs two steps of that batch on uniform x and reads the ledger,
// whose peak then starts anew and whose cache is emptied. (With a source, another model runs them.)
// Weights, modes and random state stay as they are. Only `verify` overwrites gradients. *budget is
// written on success.
Status budget_largest_batch(const BudgetTask *task, OptimizerConfig optimizer, int64_t bytes,
                            bool verify, Budget *budget);

// Peak bytes of that step with each optimizer's defaults, by a dry run each. peak is written on
// success.
Status budget_by_optimizer(const BudgetTask *task, int64_t peak[OPTIMIZER_COUNT]);

// ---- recomputation -----------------------------------------------------------------------------
typedef struct RecomputeChoice {
    bool fits;                       // the peak is at most the budget
    int64_t layers;                  // that are marked now
    int64_t refused;                 // that cannot be run again: tried alone, and left out
    int64_t plain_bytes, peak_bytes; // of a training step's peak, with no layer marked, and now
    uint64_t plain_flops, flops;     // of that step in all
    int64_t runs;                    // dry runs that it took
} RecomputeChoice;

// Chooses which layers are to be run again in backward (layer_recompute), so that a training step's
// peak fits into `bytes`, 0 to 2^60, for few FLOPs more; marks them, and no others. Each set in
// question is predicted by a dry run: all layers of a depth, for each depth, and all there are, in
// one another; less as many as can be spared, tried in three orders (those that keep the fewest
// bytes for a FLOP first, those that cost most, the last ones); of the sets that fit, the one of
// the fewest FLOPs. That no other set would do with fewer is not promised. Where none fits, the one
// of the lowest peak is marked, and `fits` is false. What a layer holds is not touched; the marks
// change, and *choice is written, on success.
//
//     RecomputeChoice choice;
//     BudgetTask task = {.model = model, .x = x, .labels = labels};
//     budget_recompute(&task, optimizer_defaults(OPTIMIZER_ADAM), 2000000000, &choice);
//     train_fit(model, optimizer, loader, options, &result); // at a peak of choice.peak_bytes
Status budget_recompute(const BudgetTask *task, OptimizerConfig optimizer, int64_t bytes,
                        RecomputeChoice *choice);

RIDGEPOINT_API_END

#endif
