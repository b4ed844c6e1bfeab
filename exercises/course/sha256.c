// sha256.c -- SHA-256 as in FIPS 180-4, and HMAC with it, for a few kilobytes. Variables have the
// names of the standard.
#include "exercises/course/sha256.h"

#include <string.h>

static const uint32_t k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate(uint32_t word, int by) { return word >> by | word << (32 - by); }

static void fill_schedule(const uint8_t *block, uint32_t w[64]) {
    for (int t = 0; t < 16; t++)
        w[t] = (uint32_t)block[4 * t] << 24 | (uint32_t)block[4 * t + 1] << 16 |
               (uint32_t)block[4 * t + 2] << 8 | block[4 * t + 3];
    for (int t = 16; t < 64; t++) {
        uint32_t a = w[t - 15], b = w[t - 2];
        w[t] = w[t - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + w[t - 7] +
               (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
    }
}

static void add_block(uint32_t state[8], const uint8_t *block) {
    uint32_t w[64], s[8];
    fill_schedule(block, w);
    memcpy(s, state, sizeof s);
    for (int t = 0; t < 64; t++) {
        uint32_t a = s[0], e = s[4];
        uint32_t choice = (e & s[5]) ^ (~e & s[6]);
        uint32_t majority = (a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]);
        uint32_t first =
            s[7] + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + choice + k[t] + w[t];
        uint32_t second = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + majority;
        memmove(s + 1, s, 7 * sizeof s[0]);
        s[4] += first;
        s[0] = first + second;
    }
    for (int i = 0; i < 8; i++) state[i] += s[i];
}

void sha256_begin(Sha256 *hash) {
    *hash = (Sha256){.state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
                               0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

void sha256_add(Sha256 *hash, const void *bytes, size_t count) {
    const uint8_t *next = bytes;
    while (count > 0) {
        size_t used = hash->bytes % SHA256_BLOCK, part = SHA256_BLOCK - used;
        if (part > count) part = count;
        memcpy(hash->block + used, next, part);
        hash->bytes += part;
        next += part;
        count -= part;
        if (hash->bytes % SHA256_BLOCK == 0) add_block(hash->state, hash->block);
    }
}

void sha256_end(Sha256 *hash, uint8_t digest[SHA256_BYTES]) {
    uint8_t end[SHA256_BLOCK + 8] = {0x80};
    uint64_t bits = 8 * hash->bytes;
    size_t zeros = (2 * SHA256_BLOCK - 9 - hash->bytes % SHA256_BLOCK) % SHA256_BLOCK;
    for (int i = 0; i < 8; i++) end[1 + zeros + (size_t)i] = (uint8_t)(bits >> (56 - 8 * i));
    sha256_add(hash, end, 1 + zeros + 8);
    for (int i = 0; i < SHA256_BYTES; i++)
        digest[i] = (uint8_t)(hash->state[i / 4] >> (24 - 8 * (i % 4)));
}

void sha256(const void *bytes, size_t count, uint8_t digest[SHA256_BYTES]) {
    Sha256 hash;
    sha256_begin(&hash);
    sha256_add(&hash, bytes, count);
    sha256_end(&hash, digest);
}

void hmac_sha256(const void *key, size_t key_bytes, const void *message, size_t count,
                 uint8_t digest[SHA256_BYTES]) {
    uint8_t block[SHA256_BLOCK] = {0}, inner[SHA256_BLOCK], outer[SHA256_BLOCK];
    if (key_bytes > SHA256_BLOCK)
        sha256(key, key_bytes, block);
    else if (key_bytes > 0)
        memcpy(block, key, key_bytes);
    for (int i = 0; i < SHA256_BLOCK; i++) {
        inner[i] = block[i] ^ 0x36;
        outer[i] = block[i] ^ 0x5c;
    }
    Sha256 hash;
    sha256_begin(&hash);
    sha256_add(&hash, inner, sizeof inner);
    sha256_add(&hash, message, count);
    sha256_end(&hash, digest);
    sha256_begin(&hash);
    sha256_add(&hash, outer, sizeof outer);
    sha256_add(&hash, digest, SHA256_BYTES);
    sha256_end(&hash, digest);
}
