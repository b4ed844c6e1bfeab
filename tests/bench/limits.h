// limits.h -- the machine's limits, measured here and now, and the time that the engine's own
// counts of FLOPs and bytes would take at that speed: no program can be faster.
#ifndef TESTS_BENCH_LIMITS_H
#define TESTS_BENCH_LIMITS_H

#include "tensor/context.h"

enum { LIMITS_L1, LIMITS_L2, LIMITS_L3, LIMITS_MEMORY, LIMITS_LEVELS };
enum { LIMITS_READ, LIMITS_WRITE, LIMITS_BOTH, LIMITS_KINDS }; // BOTH: copies, or changes in place

typedef struct Limits { // limits of that many threads together
    int threads;
    double flops_per_second; // sgemm, n = 1024
    double bytes_per_second[LIMITS_KINDS][LIMITS_LEVELS];
    double copy_bytes_per_second;       // read + written, beyond the caches
    int64_t level_bytes[LIMITS_LEVELS]; // capacity of each level
} Limits;

void limits_measure(Limits *limits, Pool *pool);
// Measures the product again, in case it was disturbed: the best of all measurements counts.
void limits_measure_product(Limits *limits, Pool *pool);

// Watches ops run and adds up their limits. An op's limit is the longest of its FLOPs at the
// product's speed, and its reads, its writes, and both, at the speed of the levels that may still
// hold each operand.
enum { LIMITS_BUFFERS = 256 };
typedef struct RoofWatch {
    Observer observer; // must be first
    const Limits *limits;
    double seconds;  // set to 0 to start over
    int64_t traffic; // bytes moved so far
    int n_buffers;
    struct {
        const void *data;
        int64_t touched; // traffic when last touched
    } buffers[LIMITS_BUFFERS];
} RoofWatch;

// The least seconds of a second run in a row; the first run fills the caches.
double limits_of(const Limits *limits, void (*run)(void *state, int64_t times), void *state);

#endif
