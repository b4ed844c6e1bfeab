// virtual_time.h -- the time of a run: it passes when work is done, by exactly as much as the
// work's schedule says, and never otherwise. So a grade does not depend on the machine. It is the
// grader's alone: a worker asks for each reading.
#ifndef EXERCISES_SCENE_VIRTUAL_TIME_H
#define EXERCISES_SCENE_VIRTUAL_TIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

// Work is scheduled in picoseconds: an op may be shorter than any clock's step.
#define PICOSECONDS_PER_SECOND INT64_C(1000000000000)
#define PICOSECONDS_PER_NANOSECOND INT64_C(1000)

typedef struct VirtualClock {
    int64_t resolution_ns; // the step in which monotonic and real time advance, at least 1
    int64_t others_ns;     // the step of the other clocks; 0: the same
    int64_t reading_ps;    // what one reading costs, before it is taken
    int64_t monotonic_ns;  // what CLOCK_MONOTONIC is at the start
    int64_t realtime_ns;   // what CLOCK_REALTIME is at the start, since 1970
    int64_t set_after_ns;  // so long after the start, somebody sets the wall clock
    int64_t set_by_ns;     // by so much; negative: back
    int64_t set_every_ns;  // and again whenever so much more has passed; 0: once
} VirtualClock;

typedef struct VirtualTime {
    VirtualClock clock;
    int64_t now, busy;      // picoseconds since the start; busy: of them, those on a processor
    int64_t readings, idle; // idle: readings in a row
} VirtualTime;

VirtualTime virtual_time_start(VirtualClock clock);
void virtual_time_work(VirtualTime *time, int64_t picoseconds); // computing
void virtual_time_wait(VirtualTime *time, int64_t picoseconds); // asleep: only the world's passes

// As clock_gettime and clock_getres do it, coarse clocks with steps of 4 ms at least; false where
// the system has no such clock.
bool virtual_time_read(VirtualTime *time, clockid_t id, struct timespec *now);
bool virtual_time_step(const VirtualTime *time, clockid_t id, struct timespec *step);

// ---- work ------------------------------------------------------------------------------------
// Something to measure: every run of it takes as much virtual time as its schedule says. A worker
// only tells that it ran.
typedef struct VirtualWork {
    int64_t base_ps, jitter_ps; // a run takes base, and 0 to jitter more, by seed and number
    // The first run takes so much more (pages touched for the first time, cold caches, a table that
    // is built once); each later one a quarter of what the run before it took more.
    int64_t cold_ps;
    int64_t outlier_every, outlier_ps; // every so many runs, something else has the processor
    int64_t asleep_percent;            // of each run: waiting for a disk, a device, a lock
    int64_t seed;
    int64_t runs; // so far
} VirtualWork;

// How long run number `run` takes, from 0.
int64_t virtual_work_ps(const VirtualWork *work, int64_t run);
// Lets the time of so many runs pass.
void virtual_work_run(VirtualWork *work, int64_t times, VirtualTime *time);

// " base=... jitter=..." after what `text` holds, and back; runs is not written.
void virtual_work_write(const VirtualWork *work, char *text, size_t size);
VirtualWork virtual_work_read(const char *input);

// The clock's fields, likewise.
void virtual_clock_write(const VirtualClock *clock, char *text, size_t size);
VirtualClock virtual_clock_read(const char *input);

#endif
