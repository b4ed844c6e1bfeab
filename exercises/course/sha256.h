// sha256.h -- SHA-256 (FIPS 180-4) and HMAC-SHA256 (RFC 2104): for numbers that nobody can guess
// without the course's secret, and for digests of files.
#ifndef EXERCISES_COURSE_SHA256_H
#define EXERCISES_COURSE_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { SHA256_BYTES = 32, SHA256_BLOCK = 64 };

typedef struct Sha256 {
    uint32_t state[8];
    uint8_t block[SHA256_BLOCK];
    uint64_t bytes; // number of bytes added so far
} Sha256;
void sha256_begin(Sha256 *hash);
void sha256_add(Sha256 *hash, const void *bytes, size_t count);
void sha256_end(Sha256 *hash, uint8_t digest[SHA256_BYTES]);

void sha256(const void *bytes, size_t count, uint8_t digest[SHA256_BYTES]);
void hmac_sha256(const void *key, size_t key_bytes, const void *message, size_t count,
                 uint8_t digest[SHA256_BYTES]);

#endif
