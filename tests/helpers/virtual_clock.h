// virtual_clock.h -- a clock that advances only when a test says so, so that measured times are
// known even on a busy machine. Its clock_gettime replaces the C library's in every test program,
// and returns the system's time until one of these functions is called.
#ifndef TESTS_HELPERS_VIRTUAL_CLOCK_H
#define TESTS_HELPERS_VIRTUAL_CLOCK_H

#include <stdint.h>

// From begin to end CLOCK_MONOTONIC stands still, except for 50 ns per reading; pass advances it.
// Afterwards it is the system's clock again, ahead by the time that has passed: it never goes back.
void virtual_clock_begin(void);
void virtual_clock_pass(double seconds);
void virtual_clock_end(void);

// Any other clock: its current value and its way to advance, both in nanoseconds. Each reading
// takes `reading` nanoseconds.
typedef struct VirtualClock {
    int64_t (*now)(void);
    void (*pass)(int64_t nanoseconds);
    int64_t reading;
} VirtualClock;
void virtual_clock_use(VirtualClock clock);

#endif
