// profile_parts.h -- internal to profiler/: the three parts of making a Profile.
#ifndef PROFILER_PROFILE_PARTS_H
#define PROFILER_PROFILE_PARTS_H

#include "profiler/profile.h"
#include "profiler/timeline.h"

typedef struct StepTimes { // seconds of one step
    double forward, backward, optimizer, total;
} StepTimes;

// The five lines of a training step, with the clock read between them.
Status profile_step(Layer *model, Optimizer *optimizer, Tensor *x, Tensor *labels,
                    StepTimes *times);

// Judges every phase by its counts and its median; needs profile->machine.
void profile_judge(Profile *profile);

// What one step of the current context's device costs: the second of two steps is counted, so that
// gradients and optimizer state exist. Afterwards `table` says which sites ran, the ledger's peak
// is the step's.
Status profile_count_step(Layer *model, Optimizer *optimizer, Tensor *x, Tensor *labels,
                          const Machine *machine, CostTable *table, ProfileMemory *memory);

// Fills profile->layers and the counts of all phases from a table of the current context.
Status profile_take_counts(Profile *profile, const CostTable *table, const Layer *model);
// Compares every count of the profile's layers, and the composition of the peak, with a table of
// the current (dry) context; needs profile->predicted and ->measured.
void profile_reconcile(Profile *profile, const CostTable *table);

// Dry runs of a step and of inference: predicted memory, bytes per sample, inference peak; and the
// comparison of every predicted count with the profile's executed ones.
Status profile_predict(Layer *model, OptimizerConfig optimizer, const Tensor *x,
                       const Tensor *labels, Profile *profile);

// Latencies of steps and layers (`executed`: the table of the counted step in this context).
Status profile_measure(Layer *model, Optimizer *optimizer, Tensor *x, Tensor *labels,
                       ProfileOptions options, const CostTable *executed, Profile *profile);

// Which report phase an op's phase adds to, besides the step: itself, and for backward's parts
// both.
ReportPhase profile_report_phase(Phase phase);

#endif
