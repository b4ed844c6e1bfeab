// memory_curve.h -- memory over one step, from a profile's recorded changes: live bytes by category
// during each op; the peak's composition by layer and phase, and the op that caused it.
// Not here: memory over many steps (leak.h), or for other batches (budget.h).
#ifndef PROFILER_REPORT_MEMORY_CURVE_H
#define PROFILER_REPORT_MEMORY_CURVE_H

#include <stdio.h>

#include "profiler/measure/profile.h"

RIDGEPOINT_API_BEGIN

typedef struct MemoryPoint { // the highest moment during an op
    MemoryUse live;
    int64_t in_backward; // activation bytes requested in backward (gradients in transit)
    int64_t op;          // index into Profile.ops; n_ops: after the last
    Phase phase;         // phase of that op; after the last op, that op's phase
} MemoryPoint;

typedef struct MemoryShare { // a part of the peak
    int layer;               // layer of the profile; -1: resident, or requested outside ops
    bool resident;           // live before the step: its requester and phase are unknown
    MemoryCategory category;
    Phase phase; // phase of the request; resident: PHASE_FORWARD
    int64_t bytes;
} MemoryShare;

// A point holds the memory an op needs: temporaries of earlier ops are gone by then, its own exist.
// Memory taken between two ops belongs to the later one; the first point begins with the step.
typedef struct MemoryCurve {
    MemoryPoint *points; // owned; one per op, and one at the end
    int64_t n_points;
    int64_t peak;        // the first point of the highest; its live equals Profile.measured.peak
    MemoryShare *shares; // owned; parts of the peak, most bytes first; they sum to it
    int n_shares;
    int64_t resident; // sum of the resident shares
} MemoryCurve;

// STATUS_OUT_OF_MEMORY. Works for profiles of any device, including meta. Zeroed after a failure.
Status memory_curve_new(const Profile *profile, MemoryCurve *curve);
void memory_curve_free(MemoryCurve *curve);

// Bytes that an optimizer keeps from step to step for the profile's trainable parameters: its
// state, and its staged scalars (learning rate, Adam's t). Exact.
int64_t memory_optimizer_bytes(const Profile *profile, OptimizerKind kind);
// The peak of a training profile's step with another optimizer (or its own): exact, because all
// other memory is unchanged. -1 if the step has no optimizer.
int64_t memory_optimizer_peak(const Profile *profile, const MemoryCurve *curve, OptimizerKind kind);

// Requested, reserved and fragmented bytes of the current context's ledger, now: requested = live
// bytes backed by memory (none on meta); reserved = requested + rounding + cached; fragmentation of
// the cached blocks, 1 - sum b^2 / (sum b)^2, 0 with none or one; and the largest such block.
typedef struct MemoryState {
    int64_t requested_bytes, rounding_bytes, cached_bytes, reserved_bytes, largest_free_bytes;
    int64_t free_blocks;
    int64_t unaccounted_bytes; // reserved less the other three: nonzero if the ledger is wrong
    double fragmentation;
} MemoryState;
MemoryState memory_state_now(void);

// --memory: prints the curve as a text plot over the step with phases marked, the peak's
// composition, saved bytes by layer, the needs of each optimizer, and the state. 80 columns.
// STATUS_OUT_OF_MEMORY before anything is written, STATUS_IO if writing to `file` fails.
Status memory_print(const Profile *profile, FILE *file);

// --memory-json: writes the curve, the peak's shares and the state as {"schema":
// "ridgepoint.memory/v1", ...}. "-" is standard output.
Status memory_write_json(const Profile *profile, const char *path);

RIDGEPOINT_API_END

#endif
