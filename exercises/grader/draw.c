// draw.c -- the numbers of a run: begun by HMAC-SHA256 with the course's secret, so that they can
// be had again for a student, but not foreseen; continued by xoroshiro128++.
#include "exercises/grader/draw.h"

#include <stdio.h>
#include <string.h>

#include "exercises/grader/sha256.h"

enum { MOST_STUDENT = 128, MOST_MESSAGE = 512 };

static uint64_t read_word(const uint8_t bytes[8]) {
    uint64_t word = 0;
    for (int i = 0; i < 8; i++) word = word << 8 | bytes[i];
    return word;
}

Draw draw_begin(DrawKey key, const char *exercise, const char *case_name, int run) {
    char message[MOST_MESSAGE];
    uint8_t digest[SHA256_BYTES];
    // The lengths keep fields apart: no name can be read as the end of one and the start of
    // another.
    int length =
        snprintf(message, sizeof message, "%zu:%.*s %.16s %.64s %d %llu", strlen(key.student),
                 MOST_STUDENT, key.student, exercise, case_name, run, (unsigned long long)key.seed);
    hmac_sha256(key.secret, strlen(key.secret), message, (size_t)length, digest);
    Draw draw = {.state = {read_word(digest), read_word(digest + 8)},
                 .run = run,
                 .practice = key.student[0] == '\0' && key.seed == 0};
    if ((draw.state[0] | draw.state[1]) == 0) draw.state[0] = 1; // it would stay there
    return draw;
}

static uint64_t rotate(uint64_t word, int by) { return word << by | word >> (64 - by); }

static uint64_t next(Draw *draw) {
    uint64_t a = draw->state[0], b = draw->state[1], result = rotate(a + b, 17) + a;
    b ^= a;
    draw->state[0] = rotate(a, 49) ^ b ^ b << 21;
    draw->state[1] = rotate(b, 28);
    return result;
}

int64_t draw_between(Draw *draw, int64_t least, int64_t most) {
    if (most <= least) return least;
    uint64_t span = (uint64_t)most - (uint64_t)least + 1; // 0: all 2^64
    if (span == 0) return (int64_t)next(draw);
    uint64_t word, uneven = (0 - span) % span; // so many words would favour the first numbers
    do word = next(draw);
    while (word < uneven);
    return (int64_t)((uint64_t)least + word % span);
}

double draw_real(Draw *draw, double least, double most) {
    double part = (double)(next(draw) >> 11) * 0x1p-53; // in [0, 1)
    return least + part * (most - least);
}
