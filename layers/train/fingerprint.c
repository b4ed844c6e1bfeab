// fingerprint.c -- a hash of eight bytes at a time: a gigabyte takes a fraction of a second.
#include "layers/train/fingerprint.h"

#include <string.h>

// The finaliser of SplitMix64 (Steele et al. 2014): each input bit changes half of the output bits.
static uint64_t mix(uint64_t x) {
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

uint64_t fingerprint_add(uint64_t so_far, const void *bytes, size_t count) {
    const unsigned char *from = bytes;
    uint64_t hash = mix(so_far + UINT64_C(0x9e3779b97f4a7c15) + count);
    for (; count > 0;) {
        uint64_t word = 0;
        size_t taken = count < sizeof(word) ? count : sizeof(word);
        memcpy(&word, from, taken);
        hash = mix(hash ^ word) + UINT64_C(0x9e3779b97f4a7c15);
        from += taken;
        count -= taken;
    }
    return hash;
}
