// schedule.h -- internal to the emulator: the order in which blocks and threads run.
#ifndef TESTS_EMULATOR_SCHEDULE_H
#define TESTS_EMULATOR_SCHEDULE_H

#include <cstdint>

enum { WARP_SIZE = 32, MOST_WARPS = 32, MOST_THREADS = WARP_SIZE * MOST_WARPS };

enum class Order { forward, reverse, random };

struct Schedule {
    Order order;
    uint64_t random; // state of the random generator
};

struct ReadyThreads { // a bit for each thread of a block that can continue
    uint32_t lanes[MOST_WARPS];
    uint32_t warps; // warps with such a thread
    unsigned count;
};

struct BlockOrder { // every block once, in steps around the grid
    uint64_t next, step, count;
};

// Accepts "forward", "reverse" and "random:SEED"; false for anything else.
bool schedule_parse(const char *text, Schedule *schedule);

// The next thread to run. Forward: the lowest that is ready, so warp after warp, each as far as it
// can go, and lane after lane within a warp. Reverse: the highest. At least one must be ready.
unsigned schedule_pick(Schedule *schedule, const ReadyThreads &ready);

BlockOrder schedule_blocks(Schedule *schedule, uint64_t count); // count must be at least 1
uint64_t schedule_next_block(BlockOrder *blocks);

#endif
