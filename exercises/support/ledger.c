// ledger.c -- a list of live blocks. What is not on it is never handed to free(), so that a mistake
// is counted and the program goes on.
#include "exercises/support/ledger.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

typedef struct Block {
    void *start;
    size_t bytes;
} Block;

static _Thread_local struct {
    Block *blocks;
    size_t capacity;
    int64_t fail_at; // 0: never
    LabLedger ledger;
} state;

void lab_ledger_start(void) {
    for (int64_t i = 0; i < state.ledger.live; i++) free(state.blocks[i].start);
    free(state.blocks);
    memset(&state, 0, sizeof state);
}

LabLedger lab_ledger_now(void) { return state.ledger; }

void lab_ledger_fail_at(int64_t nth) { state.fail_at = nth > 0 ? state.ledger.requests + nth : 0; }

static bool room_for_one_more(void) {
    size_t live = (size_t)state.ledger.live;
    if (live < state.capacity) return true;
    size_t capacity = state.capacity ? 2 * state.capacity : 64;
    Block *blocks = realloc(state.blocks, capacity * sizeof(Block));
    if (!blocks) return false;
    state.blocks = blocks;
    state.capacity = capacity;
    return true;
}

// Counts a request; false: this one fails.
static bool request(void) {
    state.ledger.requests++;
    bool refused = state.ledger.requests == state.fail_at || !room_for_one_more();
    if (refused) errno = ENOMEM;
    return !refused;
}

static void *enter(void *start, size_t bytes) {
    if (!start) return NULL;
    state.blocks[state.ledger.live++] = (Block){start, bytes};
    state.ledger.live_bytes += (int64_t)bytes;
    return start;
}

// The newest first: most blocks do not live long. -1: not live.
static int64_t find(const void *start) {
    int64_t i = state.ledger.live - 1;
    while (i >= 0 && state.blocks[i].start != start) i--;
    return i;
}

static void strike_out(int64_t i) {
    state.ledger.live_bytes -= (int64_t)state.blocks[i].bytes;
    state.blocks[i] = state.blocks[--state.ledger.live];
}

void *lab_malloc(size_t bytes) {
    return request() ? enter(malloc(bytes ? bytes : 1), bytes) : NULL;
}

void *lab_calloc(size_t count, size_t bytes) {
    if (!request()) return NULL;
    return enter(count && bytes ? calloc(count, bytes) : calloc(1, 1), count * bytes);
}

void *lab_realloc(void *block, size_t bytes) {
    if (!block) return lab_malloc(bytes);
    if (!request()) return NULL;
    int64_t i = find(block);
    if (i < 0) {
        state.ledger.bad_frees++;
        return NULL;
    }
    void *moved = realloc(block, bytes ? bytes : 1);
    if (!moved) return NULL;
    strike_out(i);
    return enter(moved, bytes);
}

void *lab_aligned_alloc(size_t alignment, size_t bytes) {
    void *block = NULL;
    int failure = lab_posix_memalign(&block, alignment, bytes);
    if (failure) errno = failure;
    return failure ? NULL : block;
}

int lab_posix_memalign(void **block, size_t alignment, size_t bytes) {
    if (!request()) return ENOMEM;
    if (alignment < sizeof(void *)) alignment = sizeof(void *);
    int failure = posix_memalign(block, alignment, bytes ? bytes : 1);
    if (!failure) enter(*block, bytes);
    return failure;
}

void lab_free(void *block) {
    if (!block) return;
    int64_t i = find(block);
    if (i < 0) {
        state.ledger.bad_frees++;
        return;
    }
    strike_out(i);
    free(block);
}
