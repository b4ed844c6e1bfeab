// philox.h -- Philox4x32-10 and conversions of its bits, for the CPU and for CUDA alike.
// Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
// Not here: streams, loops and host conveniences (random.h).
#ifndef TENSOR_PHILOX_H
#define TENSOR_PHILOX_H

#include "tensor/math.h"

// Turns a 128-bit counter into four random words: ten rounds that each multiply two words by
// constants and mix the high halves with the other two and the key.
MATH_INLINE void philox_mix(uint32_t words[4], uint32_t key0, uint32_t key1) {
    uint32_t c0 = words[0], c1 = words[1], c2 = words[2], c3 = words[3];
    for (int round = 0; round < 10; round++) {
        uint64_t a = (uint64_t)0xD2511F53u * c0;
        uint64_t b = (uint64_t)0xCD9E8D57u * c2;
        c0 = (uint32_t)(b >> 32) ^ c1 ^ key0;
        c1 = (uint32_t)b;
        c2 = (uint32_t)(a >> 32) ^ c3 ^ key1;
        c3 = (uint32_t)a;
        key0 += 0x9E3779B9u; // the golden ratio
        key1 += 0xBB67AE85u; // sqrt(3) - 1
    }
    words[0] = c0;
    words[1] = c1;
    words[2] = c2;
    words[3] = c3;
}

// Block number `counter` of the stream `seed`; the upper half of Philox's counter stays 0.
MATH_INLINE void philox_block(uint64_t counter, uint64_t seed, uint32_t words[4]) {
    words[0] = (uint32_t)counter;
    words[1] = (uint32_t)(counter >> 32);
    words[2] = 0;
    words[3] = 0;
    philox_mix(words, (uint32_t)seed, (uint32_t)(seed >> 32));
}

// [0, 1): the upper 24 bits, all that a float's mantissa holds evenly. (int32_t: a conversion that
// vector units have.)
MATH_INLINE float philox_uniform(uint32_t bits) { return (float)(int32_t)(bits >> 8) * 0x1p-24f; }

// cos and sin of 2 pi u for u in [0, 1): the nearest quarter turn is taken off, exactly, and put
// back by exchanging the two and flipping signs.
MATH_INLINE void philox_turn(float u, float *cosine, float *sine) {
    const float round_here = 0x1.8p23f;
    float shifted = u * 4.0f + round_here;
    uint32_t quarter = math_to_bits(shifted);
    float f = u - (shifted - round_here) * 0.25f; // |f| <= 1/8
    float s = f * f;
    float y = -7.677496e+1f;
    y = y * s + 8.1625626e+1f;
    y = y * s + -4.1341866e+1f;
    y = f * (y * s + 6.2831855f);
    float x = 5.862106e+1f;
    x = x * s + -8.542452e+1f;
    x = x * s + 6.493915e+1f;
    x = x * s + -1.9739208e+1f;
    x = x * s + 1.0f;
    uint32_t odd = 0u - (quarter & 1u); // all ones after an odd number of quarters
    uint32_t swap = (math_to_bits(x) ^ math_to_bits(y)) & odd;
    *cosine = math_from_bits(math_to_bits(x) ^ swap ^ ((quarter + 1u) & 2u) << 30);
    *sine = math_from_bits(math_to_bits(y) ^ swap ^ (quarter & 2u) << 30);
}

// Two standard normals from two words (Box and Muller 1958): a radius and an angle.
MATH_INLINE void philox_normal_pair(uint32_t bits0, uint32_t bits1, float out[2]) {
    float above_zero = philox_uniform(bits0) + 0x1p-24f; // (0, 1]: its logarithm is finite
    float radius = math_sqrt(-2.0f * math_log(above_zero));
    float cosine, sine;
    philox_turn(philox_uniform(bits1), &cosine, &sine);
    out[0] = radius * cosine;
    out[1] = radius * sine;
}

#endif
