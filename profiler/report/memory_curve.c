// memory_curve.c -- replays a profile's memory changes: the curve over the step's ops, the shares
// of its peak, and the peak under other optimizers. memory_print.c does the printing.
#include "profiler/report/memory_curve.h"

#include <stdlib.h>
#include <string.h>

#include "tensor/given.h"
#include "tensor/memory.h"

typedef struct Moment { // live memory at a moment of the step
    MemoryUse live;
    int64_t in_backward; // as in MemoryPoint
} Moment;

static void apply(Moment *now, const MemoryEvent *change) {
    bool backward = change->phase != PHASE_FORWARD && change->phase != PHASE_OPTIMIZER;
    now->live.category[change->category] += change->delta;
    now->live.total += change->delta;
    if (backward && change->category == MEM_ACTIVATION) now->in_backward += change->delta;
}

// ---- the curve -------------------------------------------------------------------------------
static Phase phase_of(const Profile *profile, int64_t op) {
    if (op == profile->n_ops) op--; // after the last
    return op >= 0 ? profile->ops[op].record.phase : PHASE_FORWARD;
}

static void raise_to(MemoryPoint *point, const Moment *now) {
    if (now->live.total <= point->live.total) return;
    point->live = now->live;
    point->in_backward = now->in_backward;
}

// An op's point is the highest moment after an allocation, or, without one, the live memory at its
// end: the time until its predecessors' temporaries are freed belongs to no op.
static void walk(const Profile *profile, MemoryCurve *curve) {
    Moment now = {.live = profile->measured.start};
    int64_t event = 0;
    for (int64_t i = 0; i < curve->n_points; i++) {
        MemoryPoint *point = &curve->points[i];
        *point = (MemoryPoint){.live.total = INT64_MIN, .op = i, .phase = phase_of(profile, i)};
        if (i == 0) raise_to(point, &now);
        for (; event < profile->n_memory_events; event++) {
            const MemoryEvent *change = &profile->memory_events[event].event;
            if (change->op > i) break;
            apply(&now, change);
            if (change->delta > 0) raise_to(point, &now);
        }
        raise_to(point, &now);
        if (point->live.total > curve->points[curve->peak].live.total) curve->peak = i;
    }
}

// ---- the shares ------------------------------------------------------------------------------
// Live bytes requested in the step, by layer (-1 first), category and phase; and the rest of the
// bytes live before the step.
typedef struct Holders {
    int64_t *bytes;
    size_t count;
    int64_t resident[MEM_COUNT];
} Holders;

static size_t holder_of(const ProfileMemoryEvent *change) {
    size_t layer = (size_t)(change->layer + 1);
    return (layer * MEM_COUNT + change->event.category) * PHASE_COUNT + change->event.phase;
}

// Freed bytes beyond those that the holder took in the step were live before it.
static void hold(Holders *holders, const ProfileMemoryEvent *change) {
    int64_t *bytes = &holders->bytes[holder_of(change)], delta = change->event.delta;
    if (*bytes + delta >= 0)
        *bytes += delta;
    else
        holders->resident[change->event.category] += delta;
}

// Replays up to the peak, the first moment with `peak` bytes.
static void replay(const Profile *profile, int64_t peak, Holders *holders) {
    Moment now = {.live = profile->measured.start};
    memcpy(holders->resident, now.live.category, sizeof(now.live.category));
    for (int64_t i = 0; i < profile->n_memory_events && now.live.total < peak; i++) {
        apply(&now, &profile->memory_events[i].event);
        hold(holders, &profile->memory_events[i]);
    }
}

static int by_bytes(const void *left, const void *right) {
    const MemoryShare *a = left, *b = right;
    if (a->bytes != b->bytes) return a->bytes < b->bytes ? 1 : -1;
    if (a->resident != b->resident) return a->resident ? -1 : 1;
    if (a->layer != b->layer) return a->layer < b->layer ? -1 : 1;
    if (a->category != b->category) return a->category < b->category ? -1 : 1;
    return (a->phase > b->phase) - (a->phase < b->phase);
}

static Status take_shares(const Holders *holders, MemoryCurve *curve) {
    size_t n = 0;
    for (size_t i = 0; i < holders->count; i++) n += holders->bytes[i] != 0;
    for (int c = 0; c < MEM_COUNT; c++) n += holders->resident[c] != 0;
    curve->shares = memory_new(n * sizeof(MemoryShare));
    if (!curve->shares) return STATUS_OUT_OF_MEMORY;
    for (int c = 0; c < MEM_COUNT; c++) {
        curve->resident += holders->resident[c];
        if (holders->resident[c] == 0) continue;
        curve->shares[curve->n_shares++] = (MemoryShare){.layer = -1,
                                                         .resident = true,
                                                         .category = (MemoryCategory)c,
                                                         .bytes = holders->resident[c]};
    }
    for (size_t i = 0; i < holders->count; i++) {
        if (holders->bytes[i] == 0) continue;
        size_t phase = i % PHASE_COUNT, category = i / PHASE_COUNT % MEM_COUNT;
        curve->shares[curve->n_shares++] =
            (MemoryShare){.layer = (int)(i / PHASE_COUNT / MEM_COUNT) - 1,
                          .category = (MemoryCategory)category,
                          .phase = (Phase)phase,
                          .bytes = holders->bytes[i]};
    }
    qsort(curve->shares, n, sizeof(MemoryShare), by_bytes);
    return STATUS_OK;
}

static Status find_shares(const Profile *profile, MemoryCurve *curve) {
    Holders holders = {.count = (size_t)(profile->n_layers + 1) * MEM_COUNT * PHASE_COUNT};
    holders.bytes = memory_new(holders.count * sizeof(int64_t));
    if (!holders.bytes) return STATUS_OUT_OF_MEMORY;
    replay(profile, curve->points[curve->peak].live.total, &holders);
    Status status = take_shares(&holders, curve);
    memory_free(holders.bytes);
    return status;
}

Status memory_curve_new(const Profile *profile, MemoryCurve *curve) {
    if (!GIVEN(profile) || !GIVEN(curve)) return STATUS_INVALID_ARGUMENT;
    *curve = (MemoryCurve){.n_points = profile->n_ops + 1};
    curve->points = memory_new((size_t)curve->n_points * sizeof(MemoryPoint));
    if (curve->points) walk(profile, curve);
    Status status = curve->points ? find_shares(profile, curve) : STATUS_OUT_OF_MEMORY;
    if (status) memory_curve_free(curve);
    return status;
}

void memory_curve_free(MemoryCurve *curve) {
    if (!GIVEN(curve)) return;
    memory_free(curve->points);
    memory_free(curve->shares);
    *curve = (MemoryCurve){0};
}

// ---- optimizers ------------------------------------------------------------------------------
static const struct {
    int states;  // state tensors per parameter, of its precision
    int scalars; // float32 scalars in total: learning rate, t
} kept[OPTIMIZER_COUNT] = {
    [OPTIMIZER_SGD] = {0, 1},   [OPTIMIZER_MOMENTUM] = {1, 1}, [OPTIMIZER_ADAM] = {2, 2},
    [OPTIMIZER_ADAMW] = {2, 2}, [OPTIMIZER_RMSPROP] = {1, 1},  [OPTIMIZER_LION] = {1, 1},
};

int64_t memory_optimizer_bytes(const Profile *profile, OptimizerKind kind) {
    if (!GIVEN(profile)) return 0;
    return precision_bytes(profile->precision) * kept[kind].states * profile->trainable_parameters +
           dtype_size(DTYPE_FLOAT32) * kept[kind].scalars;
}

static int kind_in_use(const Profile *profile) { // OPTIMIZER_COUNT: none
    int kind = 0;
    while (kind < OPTIMIZER_COUNT &&
           strcmp(profile->optimizer, optimizer_name((OptimizerKind)kind)) != 0)
        kind++;
    return kind;
}

int64_t memory_optimizer_peak(const Profile *profile, const MemoryCurve *curve,
                              OptimizerKind kind) {
    if (!GIVEN(profile) || !GIVEN(curve)) return 0;
    int in_use = kind_in_use(profile);
    if (in_use == OPTIMIZER_COUNT) return -1;
    int64_t scalars = dtype_size(DTYPE_FLOAT32) * kept[in_use].scalars, most = 0;
    for (int64_t i = 0; i < curve->n_points; i++) {
        const MemoryUse *live = &curve->points[i].live;
        int64_t others = live->total - live->category[MEM_OPTIMIZER] - scalars;
        if (others > most) most = others;
    }
    return most + memory_optimizer_bytes(profile, kind);
}

// ---- the state -------------------------------------------------------------------------------
MemoryState memory_state_now(void) {
    const Ledger *ledger = context_current()->ledger;
    if (!ledger) return (MemoryState){0}; // nothing was requested yet
    LedgerFree cached = ledger_free_blocks(ledger);
    double bytes = (double)cached.bytes;
    return (MemoryState){.requested_bytes = ledger->live_host_bytes,
                         .rounding_bytes = ledger->rounding_bytes,
                         .cached_bytes = ledger->cached_bytes,
                         .reserved_bytes = ledger->reserved_bytes,
                         .largest_free_bytes = cached.largest,
                         .free_blocks = cached.blocks,
                         .unaccounted_bytes = ledger_unaccounted(ledger),
                         .fragmentation =
                             cached.blocks > 1 ? 1.0 - cached.squares / (bytes * bytes) : 0.0};
}
