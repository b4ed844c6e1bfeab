// random.c -- the loops over Philox blocks, and single numbers for host code.
// philox.h has the generator itself and its formulas, shared with CUDA.
#include "tensor/random.h"

#include <string.h>

#include "tensor/given.h"
#include "tensor/philox.h"

enum { BLOCKS = 64, WORDS = 4 * BLOCKS }; // made at a time: a few vectors deep, and small in L1

// Makes the blocks from `first` on. The compiler vectorises a fixed count of independent blocks,
// one block per lane.
KERNEL static void make_blocks(uint64_t seed, uint64_t first, uint32_t words[WORDS]) {
    for (uint32_t i = 0; i < BLOCKS; i++) philox_block(first + i, seed, words + 4 * i);
}

// The conversions work in place: a word is replaced by the bits of a float.
KERNEL static void to_uniforms(uint32_t words[WORDS]) {
    for (int i = 0; i < WORDS; i++) words[i] = math_to_bits(philox_uniform(words[i]));
}

KERNEL static void to_normals(uint32_t words[WORDS]) {
    for (int i = 0; i < WORDS; i += 2) {
        float pair[2];
        philox_normal_pair(words[i], words[i + 1], pair);
        words[i] = math_to_bits(pair[0]);
        words[i + 1] = math_to_bits(pair[1]);
    }
}

// Writes elements [begin, end) to `out`, 4 bytes each; `begin` may lie inside a block.
static void draw(uint64_t seed, uint64_t offset, int64_t begin, int64_t end,
                 void (*convert)(uint32_t words[WORDS]), void *out) {
    uint32_t words[WORDS];
    char *to = out;
    while (begin < end) {
        make_blocks(seed, offset + (uint64_t)begin / 4, words);
        if (convert) convert(words);
        int64_t skip = begin % 4;
        int64_t count = end - begin < WORDS - skip ? end - begin : WORDS - skip;
        memcpy(to, words + skip, (size_t)count * sizeof *words);
        to += (size_t)count * sizeof *words;
        begin += count;
    }
}

void random_bits(uint64_t seed, uint64_t offset, int64_t begin, int64_t end, uint32_t *out) {
    draw(seed, offset, begin, end, NULL, out);
}

void random_uniform(uint64_t seed, uint64_t offset, int64_t begin, int64_t end, float *out) {
    draw(seed, offset, begin, end, to_uniforms, out);
}

void random_normal(uint64_t seed, uint64_t offset, int64_t begin, int64_t end, float *out) {
    draw(seed, offset, begin, end, to_normals, out);
}

uint64_t random_reserve(RandomState *state, int64_t n) {
    if (!GIVEN(state)) return 0;
    uint64_t first = state->offset;
    if (n > 0) state->offset += ((uint64_t)n + 3) / 4;
    return first;
}

// ---- single numbers: each takes a block and discards the rest --------------------------------

uint32_t random_next(RandomState *state) {
    if (!GIVEN(state)) return 0;
    uint32_t words[4];
    philox_block(random_reserve(state, 1), state->seed, words);
    return words[0];
}

float random_next_uniform(RandomState *state) {
    if (!GIVEN(state)) return NAN;
    return philox_uniform(random_next(state));
}

int64_t random_next_below(RandomState *state, int64_t n) {
    if (!GIVEN(state)) return 0;
    uint64_t count = (uint64_t)n;
    uint64_t surplus = (UINT64_MAX % count + 1) % count; // 2^64 mod n: such values
    for (;;) {                                           // favour small remainders
        uint32_t words[4];
        philox_block(random_reserve(state, 1), state->seed, words);
        uint64_t value = (uint64_t)words[1] << 32 | words[0];
        if (value <= UINT64_MAX - surplus) return (int64_t)(value % count);
    }
}

void random_shuffle(RandomState *state, int64_t *items, int64_t n) {
    for (int64_t i = n - 1; i > 0; i--) {
        int64_t j = random_next_below(state, i + 1);
        int64_t item = items[i];
        items[i] = items[j];
        items[j] = item;
    }
}
