// traffic.h -- what an op moves, and at which level of memory: bytes that it reads, bytes that it
// writes, and of these the lines that no op reads first, which a cache fetches all the same.
// Not here: how long that takes (machine/roofline.h), or how much there is to move (Op.cost).
#ifndef PROFILER_MACHINE_TRAFFIC_H
#define PROFILER_MACHINE_TRAFFIC_H

#include "profiler/machine/reuse.h"
#include "tensor/op.h"

RIDGEPOINT_API_BEGIN

typedef struct LevelTraffic { // bytes at one level
    uint64_t read, written;   // counted ones: each operand's once
    uint64_t allocated;       // of those written, what was not read before
} LevelTraffic;

// Of one op, which one team did.
typedef struct OpTraffic {
    LevelTraffic level[MACHINE_MAX_LEVELS];
    OpSlow slow;      // of its FLOPs
    int64_t handoffs; // ranges of its work that go to other threads (op_handoffs)
    Team team;
} OpTraffic;

// Of several: what each team moved, and those of its FLOPs that are slow.
typedef struct Traffic {
    LevelTraffic level[TEAM_COUNT][MACHINE_MAX_LEVELS];
    OpSlow slow[TEAM_COUNT];
    uint64_t flops_alone; // of their total FLOPs, TEAM_ONE's
    int64_t handoffs;
} Traffic;

void traffic_add(Traffic *to, const Traffic *more);
void traffic_add_op(Traffic *to, const OpTraffic *op, const OpCost *cost);
uint64_t traffic_bytes(const Traffic *traffic, int level); // counted ones, of all teams

// ---- two steps: what was touched, and where that was --------------------------------------------
// The first is quick, and all that an observer has to do while it watches.
typedef struct Touch { // an operand
    uintptr_t block;   // its memory, so that a block which the cache of storage.c hands out again
                       // is as warm as it was; without memory (meta) its storage
    uint64_t bytes : 61, read : 1, written : 1; // distinct ones, and which ways they go
    uint64_t near : 1; // where nobody has touched it, too: times of the meta device are bounds
} Touch;

typedef struct OpTouched {
    OpSlow slow;
    int64_t handoffs;
    Team team; // which of a context's threads does it follows from its shapes, also on meta
    int n_touches;
    // An op that walks its operands side by side has all of them under way: so much has to fit. 0:
    // a product, which keeps what it reads in blocks; each operand for itself.
    uint64_t under_way;
} OpTouched;

// Of an op that has run and is no view. Room for call->n_in + call->n_out touches.
OpTouched traffic_touched(const OpCall *call, const OpCost *cost, Touch *touches);

// Touches these, and tells what was moved at which level. The level of an operand is the smallest
// that held it when it was last touched and still does (reuse.h), and that holds what this op has
// under way. Caches that cores have for themselves hold it only as far as the same team touched it;
// of what one thread touched, all threads find their own share there; the rest comes from the
// first level that all cores share, or from farther, and counts there.
void traffic_find(Reuse *reuse, const OpTouched *op, const Touch *touches, const OpCost *cost,
                  OpTraffic *traffic);

// Both. STATUS_OUT_OF_MEMORY, pending, of more operands than a few.
Status traffic_of_call(Reuse *reuse, const OpCall *call, const OpCost *cost, OpTraffic *traffic);

RIDGEPOINT_API_END

#endif
