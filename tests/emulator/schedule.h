// schedule.h -- internal to the emulator: in which order blocks and threads get to run.
#ifndef TESTS_EMULATOR_SCHEDULE_H
#define TESTS_EMULATOR_SCHEDULE_H

#include <cstdint>

enum { WARP_SIZE = 32, MOST_WARPS = 32, MOST_THREADS = WARP_SIZE * MOST_WARPS };

enum class Order { forward, reverse, random };

struct Schedule {
    Order order;
    uint64_t random; // the state of the generator
};

struct ReadyThreads { // the threads of a block that can go on: a bit each
    uint32_t lanes[MOST_WARPS];
    uint32_t warps; // those that have such a thread
    unsigned count;
};

struct BlockOrder { // every block once, in steps around the grid
    uint64_t next, step, count;
};

// "forward", "reverse", "random:SEED"; false for anything else.
bool schedule_parse(const char *text, Schedule *schedule);

// The thread that runs next. The lowest one that can: that is warp after warp, each as far as it
// can go, and within a warp lane after lane. Reverse: the highest. At least one must be ready.
unsigned schedule_pick(Schedule *schedule, const ReadyThreads &ready);

BlockOrder schedule_blocks(Schedule *schedule, uint64_t count); // of at least one block
uint64_t schedule_next_block(BlockOrder *blocks);

#endif
