// reuse.h -- finds the level of memory that still holds a block: a list of the blocks touched by
// ops, most recent first, like caches with LRU replacement.
// Not here: the blocks an op touches (traffic.h), or the sizes of levels (machine/machine.h).
#ifndef PROFILER_MACHINE_REUSE_H
#define PROFILER_MACHINE_REUSE_H

#include "profiler/machine/machine.h"

RIDGEPOINT_API_BEGIN

// A level holds a block as long as the *distinct* bytes touched since, its own included, fit in the
// level (R. L. Mattson et al., Evaluation techniques for storage hierarchies, 1970): a block
// touched a hundred times in between displaces no more than one touched once. If a block just does
// not fit, the level holds a part of it.
//
// An op touches all its operands at once: the place of one does not depend on the others.
//
//     Reuse *reuse = reuse_new(machine);
//     reuse_touch(reuse, block, TEAM_ALL, 4096); // !seen: not touched before
//     reuse_end_op(reuse);
//     ReusePlace was = reuse_touch(reuse, block, TEAM_ALL, 4096); // level 0: in the first cache
typedef struct Reuse Reuse;

// For the machine's levels and both teams. Borrows the machine. NULL with an error pending when out
// of memory; nothing is allocated later: if the last cache would hold more than 16,384 blocks, the
// oldest count as displaced.
Reuse *reuse_new(const Machine *machine);
void reuse_free(Reuse *reuse); // NULL is fine
const Machine *reuse_machine(const Reuse *reuse);

typedef struct ReusePlace { // the place of a block before a touch
    bool seen;              // touched before, and not displaced from all levels since
    bool again;             // touched by this op already: not a new touch
    int level;              // if seen: the smallest level holding any of it, for the new team
    uint64_t farther;       // if seen: bytes of the block that only the next level holds
    Team team;              // if seen: the team of the previous touch
} ReusePlace;

// The team touches `bytes` bytes of a block, identified by any unique address.
ReusePlace reuse_touch(Reuse *reuse, uintptr_t block, Team team, uint64_t bytes);
void reuse_end_op(Reuse *reuse);
void reuse_drop(Reuse *reuse, uintptr_t block); // the block is freed; its address may be reused

RIDGEPOINT_API_END

#endif
