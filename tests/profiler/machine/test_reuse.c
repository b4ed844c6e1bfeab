// test_reuse.c -- profiler/reuse: the cache that still holds a block, compared with an oracle that
// walks all touches back to the last of the block and adds up the distinct ones.
#include <stdlib.h>
#include <string.h>

#include "profiler/machine/reuse.h"
#include "tests/helpers/expect.h"

// One thread has half of the first cache.
static const Machine machine = {.threads = 2,
                                .levels = {{.name = "L1", .bytes = 1000, .bytes_alone = 500},
                                           {.name = "L2", .bytes = 10000},
                                           {.name = "DRAM", .bytes = INT64_MAX}},
                                .n_levels = 3};

enum { BLOCKS = 200, TOUCHES = 4000 };
static char memory[BLOCKS];
static uintptr_t address(int block) { return (uintptr_t)&memory[block]; }

// ---- the oracle --------------------------------------------------------------------------------
static struct {
    int block;
    uint64_t bytes; // the block's largest size up to this touch
} log_of[TOUCHES];
static int n_log;
static bool lost[BLOCKS][TEAM_COUNT]
                [MACHINE_MAX_LEVELS]; // left before other touches were dropped, since its touch

static int last_touch(int block) {
    int at = n_log - 1;
    while (at >= 0 && log_of[at].block != block) at--;
    return at;
}

// Distinct bytes touched since touch `from`, without those of the block itself.
static uint64_t since(int from) {
    bool counted[BLOCKS] = {false};
    uint64_t sum = 0;
    for (int at = n_log - 1; at > from; at--) {
        if (counted[log_of[at].block]) continue;
        counted[log_of[at].block] = true;
        sum += log_of[at].bytes;
    }
    return sum;
}

static uint64_t room_of(int level, Team team) {
    const MachineLevel *of = &machine.levels[level];
    bool alone = team == TEAM_ONE && of->bytes_alone > 0;
    return (uint64_t)(alone ? of->bytes_alone : of->bytes);
}

static ReusePlace expected(int block, Team team) {
    int at = last_touch(block);
    if (at < 0) return (ReusePlace){.seen = false};
    uint64_t between = since(at), bytes = log_of[at].bytes;
    ReusePlace place = {.seen = true};
    for (; place.level < machine.n_levels - 1; place.level++) {
        uint64_t room = room_of(place.level, team);
        if (between >= room || lost[block][team][place.level]) continue;
        place.farther = between + bytes > room ? between + bytes - room : 0;
        return place;
    }
    return place;
}

static void note(int block, uint64_t bytes) {
    int at = last_touch(block);
    memset(lost[block], 0, sizeof lost[block]);
    if (at >= 0 && log_of[at].bytes > bytes) bytes = log_of[at].bytes;
    log_of[n_log].block = block;
    log_of[n_log++].bytes = bytes;
}

// Before touches are dropped, records the blocks that have left a cache: they stay out of it.
static void forget(int block) {
    int n = 0;
    for (int b = 0; b < BLOCKS; b++)
        for (int k = 0; k < 2 * TEAM_COUNT && last_touch(b) >= 0; k++)
            if (since(last_touch(b)) >= room_of(k % 2, (Team)(k / 2))) lost[b][k / 2][k % 2] = true;
    for (int at = 0; at < n_log; at++)
        if (log_of[at].block != block) log_of[n++] = log_of[at];
    n_log = n;
}

// ---- tests -------------------------------------------------------------------------------------
static uint32_t state;
static uint32_t random_below(uint32_t n) {
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % n;
}

START_TEST(a_block_is_where_distinct_bytes_leave_it) {
    static const uint32_t most_bytes[] = {30, 300, 3000, 20000}, blocks[] = {200, 200, 40, 3};
    Reuse *reuse = reuse_new(&machine);
    Team before[BLOCKS] = {TEAM_ALL};
    n_log = 0;
    memset(lost, 0, sizeof lost);
    state = 1u + (uint32_t)_i;
    for (int i = 0; i < TOUCHES; i++) {
        // Half of the touches go to a few blocks.
        uint32_t few = blocks[_i] / 10 + 1;
        int block = (int)random_below(random_below(2) ? few : blocks[_i]);
        Team team = (Team)random_below(TEAM_COUNT);
        uint64_t bytes = 1 + random_below(most_bytes[_i]);
        ReusePlace want = expected(block, team);
        ReusePlace place = reuse_touch(reuse, address(block), team, bytes);
        reuse_end_op(reuse);
        ck_assert_msg(place.seen == want.seen && !place.again && place.level == want.level &&
                          place.farther == want.farther,
                      "touch %d of block %d: level %d, %d of it farther; not level %d, %d", i,
                      block, place.level, (int)place.farther, want.level, (int)want.farther);
        if (place.seen) ck_assert_int_eq(place.team, before[block]);
        before[block] = team;
        note(block, bytes);
        if (random_below(40) > 0) continue;
        block = (int)random_below(few);
        reuse_drop(reuse, address(block));
        forget(block);
    }
    reuse_free(reuse);
}
END_TEST

static ReusePlace touch(Reuse *reuse, int block, uint64_t bytes) {
    ReusePlace place = reuse_touch(reuse, address(block), TEAM_ALL, bytes);
    reuse_end_op(reuse);
    return place;
}

START_TEST(what_an_op_touches_twice_it_touches_once) {
    Reuse *reuse = reuse_new(&machine);
    ck_assert(!reuse_touch(reuse, address(0), TEAM_ALL, 100).again);
    ck_assert(reuse_touch(reuse, address(0), TEAM_ALL, 100).again);
    reuse_end_op(reuse);
    ck_assert(!touch(reuse, 0, 100).again);
    reuse_free(reuse);
}
END_TEST

// One op touches two blocks of 600 bytes, and finds both as before; the older has 400 in cache 1.
START_TEST(an_op_touches_all_its_operands_at_once) {
    Reuse *reuse = reuse_new(&machine);
    touch(reuse, 0, 600);
    touch(reuse, 1, 600);
    for (int order = 0; order < 2; order++) {
        ReusePlace places[2];
        for (int i = 0; i < 2; i++) {
            int block = order ? 1 - i : i;
            places[block] = reuse_touch(reuse, address(block), TEAM_ALL, 600);
        }
        reuse_touch(reuse, address(2 + order), TEAM_ALL, 5000); // pushes others out after the op
        reuse_end_op(reuse);
        ck_assert_int_eq(places[0].level, order);
        ck_assert_uint_eq(places[0].farther, order ? 0 : 200);
        ck_assert_int_eq(places[1].level, order);
        ck_assert_uint_eq(places[1].farther, 0);
    }
    reuse_free(reuse);
}
END_TEST

// More blocks than fit: the oldest are forgotten, the youngest found, again and again.
START_TEST(of_too_many_blocks_the_oldest_are_forgotten) {
    enum { MANY = 50000, KEPT = 16384 };
    static const Machine vast = {.levels = {{.bytes = INT64_C(1) << 40}, {.bytes = INT64_MAX}},
                                 .n_levels = 2};
    Reuse *reuse = reuse_new(&vast);
    char *bytes = malloc(MANY);
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < MANY; i++) {
            ck_assert(!reuse_touch(reuse, (uintptr_t)(bytes + i), TEAM_ALL, 8).seen);
            reuse_end_op(reuse);
        }
    for (int i = MANY - KEPT; i < MANY; i++) {
        ReusePlace place = reuse_touch(reuse, (uintptr_t)(bytes + i), TEAM_ALL, 8);
        reuse_end_op(reuse);
        ck_assert_msg(place.seen && place.level == 0, "block %d", i);
    }
    free(bytes);
    reuse_free(reuse);
}
END_TEST

// One level holds everything, so there is only one place.
START_TEST(a_machine_without_caches_has_one_place) {
    static const Machine flat = {.levels = {{.bytes = INT64_MAX}}, .n_levels = 1};
    Reuse *reuse = reuse_new(&flat);
    touch(reuse, 0, UINT64_C(1) << 40);
    ck_assert_int_eq(touch(reuse, 0, 1).level, 0);
    reuse_free(reuse);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {{a_block_is_where_distinct_bytes_leave_it, 4},
                                 {what_an_op_touches_twice_it_touches_once, 0},
                                 {an_op_touches_all_its_operands_at_once, 0},
                                 {of_too_many_blocks_the_oldest_are_forgotten, 0},
                                 {a_machine_without_caches_has_one_place, 0},
                                 {NULL, 0}};
    return harness_main("reuse", tests);
}
