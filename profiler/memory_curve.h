// memory_curve.h -- memory over one step, from the changes that a profile kept: what was live after
// each op, by category, layer and phase; what the peak was made of, and which op caused it.
// Not here: memory over many steps (leak.h), or of other batches (budget.h).
#ifndef PROFILER_MEMORY_CURVE_H
#define PROFILER_MEMORY_CURVE_H

#include <stdio.h>

#include "profiler/profile.h"

typedef struct MemoryPoint { // the highest moment while an op ran (and just after)
    MemoryUse live;
    int64_t op;  // of Profile.ops; n_ops: after the last
    Phase phase; // of that op
} MemoryPoint;

typedef struct MemoryShare { // of the peak
    int layer; // of Profile.layers; -1: live before the step, or asked for outside any layer
    MemoryCategory category;
    Phase phase; // in which it was asked for
    int64_t bytes;
} MemoryShare;

typedef struct MemoryCurve {
    MemoryPoint *points; // owned; one per op, and one at the end
    int64_t n_points;
    int64_t peak;        // index of the highest point; its live equals Profile.measured.peak
    MemoryShare *shares; // owned; of the peak, most bytes first; they add up to it
    int n_shares;
    int64_t resident; // of the peak: live before the step began
} MemoryCurve;

// STATUS_OUT_OF_MEMORY. Of a profile on any device, meta included.
Status memory_curve_new(const Profile *profile, MemoryCurve *curve);
void memory_curve_free(MemoryCurve *curve);

// Requested, reserved and fragmented, now, of the current context's ledger: requested = live;
// reserved = live + cached + rounding; fragmentation of the cached blocks, 1 - sum b^2 / (sum b)^2,
// 0 with none or one; their largest.
typedef struct MemoryState {
    int64_t requested_bytes, reserved_bytes, cached_bytes, rounding_bytes, largest_free_bytes;
    int64_t free_blocks;
    double fragmentation;
} MemoryState;
MemoryState memory_state_now(void);

// --memory: the curve as a picture (a text plot over the step, phases marked), the peak's
// composition by layer and category, saved for backward by layer, what each optimizer would need,
// and the state. 80 columns.
Status memory_print(const Profile *profile, FILE *file);

// --memory-json: the curve, the peak's shares and the state, as {"schema":
// "ridgepoint.memory/v1", ...}. "-" is standard output.
Status memory_write_json(const Profile *profile, const char *path);

#endif
