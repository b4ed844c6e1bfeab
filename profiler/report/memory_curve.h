// memory_curve.h -- memory over one step, from the changes that a profile kept: what was live while
// each op ran, by category; what the peak was made of, by layer and phase, and which op caused it.
// Not here: memory over many steps (leak.h), or of other batches (budget.h).
#ifndef PROFILER_REPORT_MEMORY_CURVE_H
#define PROFILER_REPORT_MEMORY_CURVE_H

#include <stdio.h>

#include "profiler/measure/profile.h"

RIDGEPOINT_API_BEGIN

typedef struct MemoryPoint { // the highest moment while an op ran
    MemoryUse live;
    int64_t in_backward; // of its activations: asked for in backward, gradients on their way
    int64_t op;          // of Profile.ops; n_ops: after the last
    Phase phase;         // of that op; after the last: the last one's
} MemoryPoint;

typedef struct MemoryShare { // of the peak
    int layer;               // of Profile.layers; -1: resident, or asked for where no op ran
    bool resident;           // live before the step: who asked for it, and when, is not known
    MemoryCategory category;
    Phase phase; // in which it was asked for; resident: PHASE_FORWARD
    int64_t bytes;
} MemoryShare;

// A point holds what an op needs: temporaries of the ops before it are gone by then, its own are
// there. Memory taken between two ops is the later one's; the first point begins with the step.
typedef struct MemoryCurve {
    MemoryPoint *points; // owned; one per op, and one at the end
    int64_t n_points;
    int64_t peak;        // the first of the highest; its live equals Profile.measured.peak
    MemoryShare *shares; // owned; of the peak, most bytes first; they add up to it
    int n_shares;
    int64_t resident; // of the peak: the sum of its resident shares
} MemoryCurve;

// STATUS_OUT_OF_MEMORY. Of a profile on any device, meta included. Zeroed after a failure.
Status memory_curve_new(const Profile *profile, MemoryCurve *curve);
void memory_curve_free(MemoryCurve *curve);

// What an optimizer keeps from step to step for the profile's trainable parameters: its state, and
// the scalars (learning rate, Adam's t) that it stages. Exact.
int64_t memory_optimizer_bytes(const Profile *profile, OptimizerKind kind);
// The peak of a training profile's step with another optimizer (or its own): exact, because all
// else is live as it was. -1 where the step has none.
int64_t memory_optimizer_peak(const Profile *profile, const MemoryCurve *curve, OptimizerKind kind);

// Requested, reserved and fragmented, now, of the current context's ledger: requested = live bytes
// with memory behind them (on meta none have); reserved = requested + rounding + cached;
// fragmentation of the cached blocks, 1 - sum b^2 / (sum b)^2, 0 with none or one; their largest.
typedef struct MemoryState {
    int64_t requested_bytes, rounding_bytes, cached_bytes, reserved_bytes, largest_free_bytes;
    int64_t free_blocks;
    int64_t unaccounted_bytes; // reserved less the other three: 0, or the ledger is wrong
    double fragmentation;
} MemoryState;
MemoryState memory_state_now(void);

// --memory: the curve as a picture (a text plot over the step, phases marked), the peak's
// composition, saved for backward by layer, what each optimizer would need, and the state. 80
// columns. STATUS_OUT_OF_MEMORY before anything is written, STATUS_IO when `file` takes no more.
Status memory_print(const Profile *profile, FILE *file);

// --memory-json: the curve, the peak's shares and the state, as {"schema":
// "ridgepoint.memory/v1", ...}. "-" is standard output.
Status memory_write_json(const Profile *profile, const char *path);

RIDGEPOINT_API_END

#endif
