// clock.h -- the one clock of the profiler: monotonic seconds, and the cost of reading it.
#ifndef PROFILER_CLOCK_H
#define PROFILER_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t clock_nanoseconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static inline double clock_seconds(void) { return 1e-9 * (double)clock_nanoseconds(); }

#endif
