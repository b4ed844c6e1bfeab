// reuse.h -- which level of memory still holds a block: the blocks that ops touched, the last one
// first, as caches keep them that drop what was used least recently.
// Not here: what an op touches (traffic.h), or how large the levels are (machine/machine.h).
#ifndef PROFILER_MACHINE_REUSE_H
#define PROFILER_MACHINE_REUSE_H

#include "profiler/machine/machine.h"

RIDGEPOINT_API_BEGIN

// A level holds a block as long as the *distinct* bytes that were touched since, its own included,
// fit in it (R. L. Mattson et al., Evaluation techniques for storage hierarchies, 1970): what was
// touched a hundred times in between pushes out no more than what was touched once. Of a block that
// just does not fit it holds a part.
//
// An op touches all its operands at once: where one was does not hang on the others.
//
//     Reuse *reuse = reuse_new(machine);
//     reuse_touch(reuse, block, TEAM_ALL, 4096); // !seen: nobody touched it
//     reuse_end_op(reuse);
//     ReusePlace was = reuse_touch(reuse, block, TEAM_ALL, 4096); // level 0: in the first cache
typedef struct Reuse Reuse;

// For the machine's levels, and both teams. Borrows the machine. NULL with an error pending when
// out of memory; from then on nothing is allocated: of more than 16,384 blocks that the last cache
// would hold, the oldest count as pushed out.
Reuse *reuse_new(const Machine *machine);
void reuse_free(Reuse *reuse); // NULL is fine
const Machine *reuse_machine(const Reuse *reuse);

typedef struct ReusePlace { // where a block was before it was touched
    bool seen;              // by this `reuse`, and not pushed out of everything since
    bool again;             // by the same op: this is no touch of its own
    int level;              // where seen: the smallest that holds any of it, for the new team
    uint64_t farther;       // where seen: bytes of the block that only the next level holds
    Team team;              // where seen: whose touch it was
} ReusePlace;

// `bytes` of a block, by whatever address tells it from others, which the team touches.
ReusePlace reuse_touch(Reuse *reuse, uintptr_t block, Team team, uint64_t bytes);
void reuse_end_op(Reuse *reuse);
void reuse_drop(Reuse *reuse, uintptr_t block); // it is no more, and its address may be another's

RIDGEPOINT_API_END

#endif
