// ledger.c -- a list of live blocks. A block that is not in it never reaches free(), so that a
// mistake is counted and the program goes on.
#include "exercises/support/ledger.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exercises/support/worker.h"

enum { GUARD_BYTES = 32 };

// The guard behind each block. Its bytes read as doubles are NaN, which spoils any result.
static unsigned char guard_byte(size_t i) { return i % 8 < 6 ? 0xa5 : i % 8 == 6 ? 0xf9 : 0xff; }

// With AddressSanitizer we need no guards: its own guards report more.
void __asan_poison_memory_region(const volatile void *start, size_t bytes) __attribute__((weak));
static size_t guard_bytes(void) { return __asan_poison_memory_region ? 0 : GUARD_BYTES; }

typedef struct Block {
    void *start;
    size_t bytes;
} Block;

static struct {
    Block *blocks;
    size_t capacity;
    int64_t fail_at; // number of the request to refuse; 0: none
    LabLedger ledger;
} state;

void lab_ledger_start(void) {
    for (int64_t i = 0; i < state.ledger.live; i++) free(state.blocks[i].start);
    free(state.blocks);
    memset(&state, 0, sizeof state);
}

static void look_at_guard(const Block *block) {
    const unsigned char *guard = (const unsigned char *)block->start + block->bytes;
    for (size_t i = 0; i < guard_bytes(); i++)
        if (guard[i] != guard_byte(i)) worker_overrun();
}

LabLedger lab_ledger_now(void) {
    for (int64_t i = 0; i < state.ledger.live; i++) look_at_guard(&state.blocks[i]);
    return state.ledger;
}

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

// Counts a request; false: the request must fail.
static bool request(void) {
    state.ledger.requests++;
    bool refused = state.ledger.requests == state.fail_at || !room_for_one_more();
    if (refused) errno = ENOMEM;
    return !refused;
}

static void *enter(void *start, size_t bytes) {
    if (!start) return NULL;
    unsigned char *guard = (unsigned char *)start + bytes;
    for (size_t i = 0; i < guard_bytes(); i++) guard[i] = guard_byte(i);
    state.blocks[state.ledger.live++] = (Block){start, bytes};
    state.ledger.live_bytes += (int64_t)bytes;
    return start;
}

// Finds a block, newest first, because most blocks are freed soon. -1: not live.
static int64_t find(const void *start) {
    int64_t i = state.ledger.live - 1;
    while (i >= 0 && state.blocks[i].start != start) i--;
    return i;
}

static void strike_out(int64_t i) {
    look_at_guard(&state.blocks[i]);
    state.ledger.live_bytes -= (int64_t)state.blocks[i].bytes;
    state.blocks[i] = state.blocks[--state.ledger.live];
}

static bool is_too_large(size_t bytes) { return bytes > SIZE_MAX / 2; }

void *lab_malloc(size_t bytes) {
    return request() && !is_too_large(bytes) ? enter(malloc(bytes + guard_bytes()), bytes) : NULL;
}

void *lab_calloc(size_t count, size_t bytes) {
    size_t all;
    if (__builtin_mul_overflow(count, bytes, &all) || is_too_large(all))
        return lab_malloc(SIZE_MAX);
    return request() ? enter(calloc(1, all + guard_bytes()), all) : NULL;
}

void *lab_realloc(void *block, size_t bytes) {
    if (!block) return lab_malloc(bytes);
    if (!request() || is_too_large(bytes)) return NULL;
    int64_t i = find(block);
    if (i < 0) {
        state.ledger.bad_frees++;
        return NULL;
    }
    look_at_guard(&state.blocks[i]);
    void *moved = realloc(block, bytes + guard_bytes());
    if (!moved) return NULL;
    state.ledger.live_bytes -= (int64_t)state.blocks[i].bytes;
    state.blocks[i] = state.blocks[--state.ledger.live];
    return enter(moved, bytes);
}

void *lab_reallocarray(void *block, size_t count, size_t bytes) {
    size_t all;
    return lab_realloc(block, __builtin_mul_overflow(count, bytes, &all) ? SIZE_MAX : all);
}

char *lab_strndup(const char *text, size_t most) {
    size_t length = strnlen(text, most);
    char *copy = lab_malloc(length + 1);
    if (copy) memcpy(copy, text, length);
    if (copy) copy[length] = '\0';
    return copy;
}

char *lab_strdup(const char *text) { return lab_strndup(text, SIZE_MAX - 1); }

int lab_vasprintf(char **text, const char *format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    *text = length < 0 ? NULL : lab_malloc((size_t)length + 1);
    return *text ? vsnprintf(*text, (size_t)length + 1, format, arguments) : -1;
}

int lab_asprintf(char **text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = lab_vasprintf(text, format, arguments);
    va_end(arguments);
    return length;
}

void *lab_aligned_alloc(size_t alignment, size_t bytes) {
    void *block = NULL;
    if (alignment < sizeof(void *)) alignment = sizeof(void *);
    int failure = lab_posix_memalign(&block, alignment, bytes);
    if (failure) errno = failure;
    return failure ? NULL : block;
}

int lab_posix_memalign(void **block, size_t alignment, size_t bytes) {
    if (!request()) return ENOMEM;
    bool power_of_two = alignment && (alignment & (alignment - 1)) == 0;
    if (!power_of_two || alignment < sizeof(void *)) return EINVAL;
    if (is_too_large(bytes)) return ENOMEM;
    int failure = posix_memalign(block, alignment, bytes + guard_bytes());
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
