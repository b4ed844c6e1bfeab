// reuse.c -- a list of blocks in the order of their last touch, in which each cache marks the
// oldest block it holds. A touch moves a block to the front; an op's end moves the marks.
#include "profiler/machine/reuse.h"

#include <string.h>

#include "tensor/given.h"
#include "tensor/memory.h"

enum {
    REUSE_BLOCKS = 1 << 14,
    REUSE_SLOTS = 2 * REUSE_BLOCKS,                      // hash table slots, at most half full
    MOST_CACHES = TEAM_COUNT * (MACHINE_MAX_LEVELS - 1), // the last level holds everything
    NONE = -1,
};

typedef struct Block {
    uintptr_t key;      // address of the block
    uint64_t bytes, op; // op: the last op that touched it
    int32_t newer, older;
    uint16_t beyond; // bit i: cache i no longer holds it
    uint8_t team;
} Block;

typedef struct Cache { // one level's cache, for one team
    uint64_t capacity;
    uint64_t held; // bytes of the blocks up to `last`; during an op it may exceed the capacity
    int32_t last;  // the oldest block that it holds, at least in part
    int32_t cut;   // `last` at the op's start, if it did not fit whole
    uint64_t over; // bytes of `cut` that did not fit
} Cache;

struct Reuse {
    const Machine *machine;
    uint64_t op; // number of the current op
    int32_t newest, oldest;
    Cache caches[MOST_CACHES]; // indexed by cache_of
    int n_caches, n_blocks;
    int32_t spare; // first of the dropped blocks, linked by `older`; NONE: no block
    Block blocks[REUSE_BLOCKS];
    int32_t slots[REUSE_SLOTS];
};

static int cache_of(const Reuse *reuse, Team team, int level) {
    return (int)team * (reuse->machine->n_levels - 1) + level;
}

Reuse *reuse_new(const Machine *machine) {
    if (!GIVEN(machine)) return NULL;
    Reuse *reuse = memory_new(sizeof(Reuse));
    if (!reuse) return NULL;
    reuse->machine = machine;
    reuse->newest = reuse->oldest = reuse->spare = NONE;
    memset(reuse->slots, 0xFF, sizeof(reuse->slots)); // NONE
    for (int team = 0; team < TEAM_COUNT; team++)
        for (int i = 0; i < machine->n_levels - 1; i++) {
            int64_t capacity = machine_capacity(&machine->levels[i], (Team)team);
            reuse->caches[reuse->n_caches++] =
                (Cache){.capacity = (uint64_t)capacity, .last = NONE, .cut = NONE};
        }
    return reuse;
}

void reuse_free(Reuse *reuse) { memory_free(reuse); }

const Machine *reuse_machine(const Reuse *reuse) {
    if (!GIVEN(reuse)) return NULL;
    return reuse->machine;
}

// ---- where a block is found ------------------------------------------------------------------
static uint32_t slot_of(uintptr_t key) {
    return (uint32_t)(((uint64_t)key * UINT64_C(0x9E3779B97F4A7C15)) >> 32) % REUSE_SLOTS;
}

static uint32_t next_slot(uint32_t slot) { return (slot + 1) % REUSE_SLOTS; }

// The slot of a key, or the free slot for it.
static uint32_t find(const Reuse *reuse, uintptr_t key) {
    uint32_t slot = slot_of(key);
    while (reuse->slots[slot] != NONE && reuse->blocks[reuse->slots[slot]].key != key)
        slot = next_slot(slot);
    return slot;
}

// Fills the gap with later entries that a search would otherwise miss (linear probing).
static void remove_slot(Reuse *reuse, uint32_t gap) {
    for (uint32_t slot = next_slot(gap); reuse->slots[slot] != NONE; slot = next_slot(slot)) {
        uint32_t home = slot_of(reuse->blocks[reuse->slots[slot]].key);
        bool between = gap <= slot ? gap < home && home <= slot : gap < home || home <= slot;
        if (between) continue;
        reuse->slots[gap] = reuse->slots[slot];
        gap = slot;
    }
    reuse->slots[gap] = NONE;
}

// ---- the order -------------------------------------------------------------------------------
static void take_out(Reuse *reuse, int32_t at) {
    const Block *block = &reuse->blocks[at];
    for (int i = 0; i < reuse->n_caches; i++) {
        Cache *cache = &reuse->caches[i];
        if (block->beyond >> i & 1) continue;
        cache->held -= block->bytes;
        if (cache->last == at) cache->last = block->newer;
    }
    *(block->newer == NONE ? &reuse->newest : &reuse->blocks[block->newer].older) = block->older;
    *(block->older == NONE ? &reuse->oldest : &reuse->blocks[block->older].newer) = block->newer;
}

static void put_first(Reuse *reuse, int32_t at) {
    Block *block = &reuse->blocks[at];
    block->newer = NONE;
    block->older = reuse->newest;
    block->beyond = 0;
    *(block->older == NONE ? &reuse->oldest : &reuse->blocks[block->older].newer) = at;
    reuse->newest = at;
    for (int i = 0; i < reuse->n_caches; i++) {
        Cache *cache = &reuse->caches[i];
        cache->held += block->bytes;
        if (cache->last == NONE) cache->last = at;
    }
}

// Drops the blocks of which no byte fits.
static void push_out(Reuse *reuse, int i) {
    Cache *cache = &reuse->caches[i];
    while (cache->last != NONE) {
        Block *last = &reuse->blocks[cache->last];
        if (cache->held < cache->capacity + last->bytes) break;
        last->beyond |= (uint16_t)(1u << i);
        cache->held -= last->bytes;
        cache->last = last->newer;
    }
    bool fits = cache->held <= cache->capacity;
    cache->cut = fits ? NONE : cache->last;
    cache->over = fits ? 0 : cache->held - cache->capacity;
}

void reuse_end_op(Reuse *reuse) {
    if (!GIVEN(reuse)) return;
    reuse->op++;
    for (int i = 0; i < reuse->n_caches; i++) push_out(reuse, i);
}

static void drop(Reuse *reuse, int32_t at) {
    take_out(reuse, at);
    remove_slot(reuse, find(reuse, reuse->blocks[at].key));
    reuse->blocks[at].older = reuse->spare;
    reuse->spare = at;
}

// Returns an unused block: a new one, a dropped one, or the oldest.
static int32_t take_block(Reuse *reuse) {
    if (reuse->spare == NONE && reuse->n_blocks < REUSE_BLOCKS) return reuse->n_blocks++;
    if (reuse->spare == NONE) drop(reuse, reuse->oldest);
    int32_t at = reuse->spare;
    reuse->spare = reuse->blocks[at].older;
    return at;
}

void reuse_drop(Reuse *reuse, uintptr_t block) {
    if (!GIVEN(reuse)) return;
    int32_t at = reuse->slots[find(reuse, block)];
    if (at == NONE) return;
    drop(reuse, at);
    for (int i = 0; i < reuse->n_caches; i++) push_out(reuse, i); // a cut block may fit now
}

// ---- touches ---------------------------------------------------------------------------------
static ReusePlace place_of(const Reuse *reuse, Team team, int32_t at) {
    const Block *block = &reuse->blocks[at];
    ReusePlace place = {.seen = true, .team = (Team)block->team};
    for (; place.level < reuse->machine->n_levels - 1; place.level++) {
        int i = cache_of(reuse, team, place.level);
        if (block->beyond >> i & 1) continue;
        place.farther = reuse->caches[i].cut == at ? reuse->caches[i].over : 0;
        break;
    }
    return place;
}

ReusePlace reuse_touch(Reuse *reuse, uintptr_t block, Team team, uint64_t bytes) {
    if (!GIVEN(reuse)) return (ReusePlace){0};
    uint32_t slot = find(reuse, block);
    int32_t at = reuse->slots[slot];
    ReusePlace place = {0};
    if (at != NONE) {
        if (reuse->blocks[at].op == reuse->op) return (ReusePlace){.again = true};
        place = place_of(reuse, team, at);
        if (reuse->blocks[at].bytes > bytes) bytes = reuse->blocks[at].bytes; // all its parts
        take_out(reuse, at);
    } else {
        at = take_block(reuse);
        slot = find(reuse, block); // dropping a block may have moved the slot
        reuse->slots[slot] = at;
    }
    reuse->blocks[at] =
        (Block){.key = block, .bytes = bytes, .op = reuse->op, .team = (uint8_t)team};
    put_first(reuse, at);
    return place;
}
