// traffic.h -- what an op moves, and at which level of memory: bytes that it reads, bytes that it
// writes, and of these the lines that no op reads first, which a cache fetches all the same.
// Not here: how long that takes (machine/roofline.h), or how much there is to move (Op.cost).
#ifndef PROFILER_TRAFFIC_H
#define PROFILER_TRAFFIC_H

#include "profiler/machine/machine.h"
#include "tensor/op.h"

RIDGEPOINT_API_BEGIN

typedef struct LevelTraffic { // bytes at one level
    uint64_t read, written;   // counted ones: each operand's once
    uint64_t allocated;       // of those written, what was not read before
} LevelTraffic;

// Of one op, which one team did.
typedef struct OpTraffic {
    LevelTraffic level[MACHINE_MAX_LEVELS];
    LevelTraffic other; // of these, what lay in the caches of another team's cores: see below
    OpSlow slow;        // of its FLOPs
    Team team;
} OpTraffic;

// Of several: what each team moved, and those of its FLOPs that are slow.
typedef struct Traffic {
    LevelTraffic level[TEAM_COUNT][MACHINE_MAX_LEVELS];
    LevelTraffic other[TEAM_COUNT];
    OpSlow slow[TEAM_COUNT];
    uint64_t flops_alone; // of their total FLOPs, TEAM_ONE's
} Traffic;

void traffic_add(Traffic *to, const Traffic *more);
void traffic_add_op(Traffic *to, const OpTraffic *op, const OpCost *cost);
uint64_t traffic_bytes(const Traffic *traffic, int level); // counted ones, of all teams

// Who did an op that has run, while so many ranges were handed to other threads.
Team team_of_call(const OpCall *call, int64_t handed);

// Of an op that has run and is no view: finds the level of each operand, stamps it, and tells what
// was moved there. The level of an operand is the smallest that holds what was moved since its
// elements were last touched: since the end of the op that did, and within an op until it came to
// its end. Caches that cores have for themselves hold it only as far as the same team touched it;
// of what one thread touched, all threads find their own share there; the rest, `other`, comes from
// the first level that all cores share, or from farther, and counts there. Blocks keep their stamp
// when the cache of storage.c recycles them: they are as warm.
void traffic_of_call(const Machine *machine, Team team, const OpCall *call, const OpCost *cost,
                     OpTraffic *traffic);

RIDGEPOINT_API_END

#endif
