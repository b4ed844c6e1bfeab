// schedule.cpp -- the orders in which blocks and threads run: forward, reverse, seeded random.
#include "tests/emulator/schedule.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <numeric>

bool schedule_parse(const char *text, Schedule *schedule) {
    static const char random[] = "random:";
    *schedule = Schedule();
    if (strcmp(text, "forward") == 0) return true;
    schedule->order = Order::reverse;
    if (strcmp(text, "reverse") == 0) return true;
    schedule->order = Order::random;
    const char *seed = text + strlen(random);
    if (strncmp(text, random, strlen(random)) != 0 || *seed < '0' || *seed > '9') return false;
    char *end;
    errno = 0;
    schedule->random = strtoull(seed, &end, 10);
    return errno == 0 && *end == '\0';
}

// splitmix64 (Steele, Lea, Flood 2014)
static uint64_t random_bits(Schedule *schedule) {
    uint64_t bits = schedule->random += UINT64_C(0x9e3779b97f4a7c15);
    bits = (bits ^ (bits >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    bits = (bits ^ (bits >> 27)) * UINT64_C(0x94d049bb133111eb);
    return bits ^ (bits >> 31);
}

static unsigned lowest(uint32_t bits) { return unsigned(__builtin_ctz(bits)); }
static unsigned highest(uint32_t bits) { return 31 - unsigned(__builtin_clz(bits)); }

static unsigned pick_number(const ReadyThreads &ready, unsigned number) {
    uint32_t warps = ready.warps;
    for (unsigned here; (here = unsigned(__builtin_popcount(ready.lanes[lowest(warps)]))) <= number;
         warps &= warps - 1)
        number -= here;
    uint32_t lanes = ready.lanes[lowest(warps)];
    for (; number; number--) lanes &= lanes - 1; // takes the lowest one off
    return lowest(warps) * WARP_SIZE + lowest(lanes);
}

unsigned schedule_pick(Schedule *schedule, const ReadyThreads &ready) {
    if (schedule->order == Order::random)
        return pick_number(ready, unsigned(random_bits(schedule) % ready.count));
    bool forward = schedule->order == Order::forward;
    unsigned warp = forward ? lowest(ready.warps) : highest(ready.warps);
    uint32_t lanes = ready.lanes[warp];
    return warp * WARP_SIZE + (forward ? lowest(lanes) : highest(lanes));
}

BlockOrder schedule_blocks(Schedule *schedule, uint64_t count) {
    if (schedule->order == Order::forward) return {0, 1, count};
    if (schedule->order == Order::reverse) return {count - 1, count - 1, count};
    // A step without a common factor with the count reaches every block before it comes round.
    BlockOrder blocks = {random_bits(schedule) % count, random_bits(schedule) % count, count};
    while (std::gcd(blocks.step, count) != 1) blocks.step++;
    return blocks;
}

uint64_t schedule_next_block(BlockOrder *blocks) {
    uint64_t block = blocks->next;
    blocks->next = (blocks->next + blocks->step) % blocks->count;
    return block;
}
