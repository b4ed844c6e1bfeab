// random.h -- counter-based random numbers (Philox4x32-10; Salmon et al., SC 2011).
// Element i of a draw uses counter offset + i/4, lane i%4, so any device and any thread can make
// any element, and a recomputed dropout is the same dropout.
// Threads: a RandomState belongs to one thread; functions with seed and offset suit any thread.
// Nothing here fails: no pointer may be NULL.
#ifndef TENSOR_RANDOM_H
#define TENSOR_RANDOM_H

#include <stdint.h>

#include "tensor/api.h"

RIDGEPOINT_API_BEGIN

typedef struct RandomState {
    uint64_t seed;   // the Philox key
    uint64_t offset; // the next unused counter
} RandomState;

// Reserves counters for n elements and returns the first: ceil(n / 4) are consumed.
uint64_t random_reserve(RandomState *state, int64_t n);

// out[i - begin] for i in [begin, end): raw bits, uniforms in [0, 1) from the upper 24 bits, and
// standard normals (Box-Muller on the lane pairs 0,1 and 2,3). Bit-equal on every thread count.
void random_bits(uint64_t seed, uint64_t offset, int64_t begin, int64_t end, uint32_t *out);
void random_uniform(uint64_t seed, uint64_t offset, int64_t begin, int64_t end, float *out);
void random_normal(uint64_t seed, uint64_t offset, int64_t begin, int64_t end, float *out);

// One number at a time, for host code (shuffles, the digit generator); advances the state.
uint32_t random_next(RandomState *state);
float random_next_uniform(RandomState *state);                      // [0, 1)
int64_t random_next_below(RandomState *state, int64_t n);           // [0, n), unbiased; n >= 1
void random_shuffle(RandomState *state, int64_t *items, int64_t n); // Fisher-Yates

RIDGEPOINT_API_END

#endif
