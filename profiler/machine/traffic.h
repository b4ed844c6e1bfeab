// traffic.h -- the memory traffic of an op by level: bytes read, bytes written, and among the
// latter the lines that no op reads first, which a cache nevertheless fetches.
// Not here: the time of the traffic (machine/roofline.h), or its total (Op.cost).
#ifndef PROFILER_MACHINE_TRAFFIC_H
#define PROFILER_MACHINE_TRAFFIC_H

#include "profiler/machine/reuse.h"
#include "tensor/op.h"

RIDGEPOINT_API_BEGIN

typedef struct LevelTraffic { // bytes at one level
    uint64_t read, written;   // counted bytes: each operand once
    uint64_t allocated;       // bytes written that were not read before
} LevelTraffic;

// Traffic of one op, run by one team.
typedef struct OpTraffic {
    LevelTraffic level[MACHINE_MAX_LEVELS];
    OpSlow slow;      // the slow ones among its FLOPs
    int64_t handoffs; // ranges of its work handed to other threads (op_handoffs)
    Team team;
} OpTraffic;

// Traffic of several ops: the bytes moved by each team, and the slow ones among its FLOPs.
typedef struct Traffic {
    LevelTraffic level[TEAM_COUNT][MACHINE_MAX_LEVELS];
    OpSlow slow[TEAM_COUNT];
    uint64_t flops_alone; // FLOPs of TEAM_ONE, within the total
    int64_t handoffs;
} Traffic;

void traffic_add(Traffic *to, const Traffic *more);
void traffic_add_op(Traffic *to, const OpTraffic *op, const OpCost *cost);
uint64_t traffic_bytes(const Traffic *traffic, int level); // counted bytes of all teams

// ---- two steps: what was touched, and where that was --------------------------------------------
// The first step is quick, and all that an observer does while it watches.
typedef struct Touch { // one operand of an op
    uintptr_t block;   // its memory, so that a block reused by storage.c's cache stays warm;
                       // without memory (meta) its storage
    uint64_t bytes : 61, read : 1, written : 1; // distinct bytes, and their directions
    uint64_t near : 1; // assumed near even if untouched: times of the meta device are bounds
} Touch;

typedef struct OpTouched {
    OpSlow slow;
    int64_t handoffs;
    Team team; // follows from the op's shapes, also on meta
    int n_touches;
    // Bytes that must fit at once for an op that walks its operands side by side. 0: a product,
    // which reads in blocks; each operand counts alone.
    uint64_t under_way;
} OpTouched;

// Describes an op that has run and is not a view. `touches` has room for call->n_in + call->n_out.
OpTouched traffic_touched(const OpCall *call, const OpCost *cost, Touch *touches);

// Applies the touches, and finds the traffic by level. An operand's level is the smallest one that
// has held it since its last touch (reuse.h) and that holds what this op has under way. Private
// caches hold an operand only as far as the same team touched it: of data touched by one thread,
// all threads find just their own share there; the rest comes from the first level shared by all
// cores, or from farther, and counts there.
void traffic_find(Reuse *reuse, const OpTouched *op, const Touch *touches, const OpCost *cost,
                  OpTraffic *traffic);

// Both steps. STATUS_OUT_OF_MEMORY, pending, only possible with many operands.
Status traffic_of_call(Reuse *reuse, const OpCall *call, const OpCost *cost, OpTraffic *traffic);

RIDGEPOINT_API_END

#endif
