// virtual_clock.h -- the time that a student's code sees: it passes when work is done, by exactly
// as much as the work's schedule says, and never otherwise. So a grade does not depend on the
// machine.
//
// clock_gettime and its like in a student's object are these lab_ functions (the object's symbols
// are redefined). They behave as the real ones do, errors and coarse steps included.
#ifndef EXERCISES_SUPPORT_VIRTUAL_CLOCK_H
#define EXERCISES_SUPPORT_VIRTUAL_CLOCK_H

#include <stdint.h>
#include <sys/time.h>
#include <time.h>

// Work is scheduled in picoseconds: an op may be shorter than any clock's step.
#define PICOSECONDS_PER_SECOND INT64_C(1000000000000)
#define PICOSECONDS_PER_NANOSECOND INT64_C(1000)

typedef struct VirtualClock {
    int64_t resolution_ns; // the step in which monotonic and real time advance, at least 1
    int64_t reading_ps;    // what one reading costs, before it is taken
    int64_t monotonic_ns;  // what CLOCK_MONOTONIC is at the start
    int64_t realtime_ns;   // what CLOCK_REALTIME is at the start, since 1970
    int64_t set_after_ns;  // so long after the start, somebody sets the wall clock
    int64_t set_by_ns;     // by so much; negative: back
} VirtualClock;

// Starts this thread's time anew. There is always one: by default 1 ns, readings that cost nothing.
void virtual_clock_start(VirtualClock clock);
void virtual_clock_work(int64_t picoseconds); // computing: processor time passes, too
void virtual_clock_wait(int64_t picoseconds); // asleep: only the world's time passes
int64_t virtual_clock_now(void);              // the truth: picoseconds since the start
int64_t virtual_clock_readings(void);         // how often a clock was read since the start

// What a student's code calls; the coarse clocks have steps of 4 ms at least.
int lab_clock_gettime(clockid_t id, struct timespec *now);
int lab_clock_getres(clockid_t id, struct timespec *step);
int lab_timespec_get(struct timespec *now, int base);
time_t lab_time(time_t *now);
int lab_gettimeofday(struct timeval *now, void *zone);
clock_t lab_clock(void);
int lab_nanosleep(const struct timespec *wanted, struct timespec *left);

#endif
