// virtual_clock.h -- time that passes when a test says so: what is measured between is known, on a
// busy machine too. Its clock_gettime stands in for the C library's in every test program, and is
// the system's until one of these is called.
#ifndef TESTS_HELPERS_VIRTUAL_CLOCK_H
#define TESTS_HELPERS_VIRTUAL_CLOCK_H

#include <stdint.h>

// From begin to end CLOCK_MONOTONIC stands, but for 50 ns a reading; pass moves it on. Afterwards
// it is the system's again, ahead of it by what has passed: it never goes back.
void virtual_clock_begin(void);
void virtual_clock_pass(double seconds);
void virtual_clock_end(void);

// Another clock than that: what it shows, in nanoseconds, and how it moves on; a reading takes
// `reading` of them.
typedef struct VirtualClock {
    int64_t (*now)(void);
    void (*pass)(int64_t nanoseconds);
    int64_t reading;
} VirtualClock;
void virtual_clock_use(VirtualClock clock);

#endif
