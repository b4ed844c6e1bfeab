// virtual_time.h -- the time of a run: it passes only when work is done, by exactly as much as the
// work's schedule says. So a grade does not depend on the machine. Only the grader has the time: a
// worker asks for each reading.
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
    int64_t reading_ps;    // time that one reading costs, before the value is taken
    int64_t monotonic_ns;  // value of CLOCK_MONOTONIC at the start
    int64_t realtime_ns;   // value of CLOCK_REALTIME at the start, since 1970
    int64_t set_after_ns;  // time from the start until the wall clock is set
    int64_t set_by_ns;     // change of the wall clock; negative: back
    int64_t set_every_ns;  // time between further changes; 0: only one change
} VirtualClock;

typedef struct VirtualTime {
    VirtualClock clock;
    int64_t now, busy;      // picoseconds since the start; busy: the part on a processor
    int64_t readings, idle; // numbers of readings; idle: readings in a row without work
} VirtualTime;

VirtualTime virtual_time_start(VirtualClock clock);
void virtual_time_work(VirtualTime *time, int64_t picoseconds); // on a processor
void virtual_time_wait(VirtualTime *time, int64_t picoseconds); // asleep: `busy` stays

// Like clock_gettime and clock_getres; coarse clocks have steps of at least 4 ms. False: the system
// has no such clock.
bool virtual_time_read(VirtualTime *time, clockid_t id, struct timespec *now);
bool virtual_time_step(const VirtualTime *time, clockid_t id, struct timespec *step);

// ---- work ------------------------------------------------------------------------------------
// Work to measure: every run takes as much virtual time as its schedule says. A worker only reports
// that it ran.
typedef struct VirtualWork {
    int64_t base_ps, jitter_ps; // a run takes base plus 0 to jitter, by seed and number
    // Extra time of the first run (pages touched for the first time, cold caches, a table that is
    // built once); each later run has a quarter of the extra time of the run before it.
    int64_t cold_ps;
    int64_t outlier_every, outlier_ps; // every so many runs, something else uses the processor
    int64_t asleep_percent; // part of each run spent waiting for a disk, a device, a lock
    int64_t seed;
    int64_t runs; // number so far
} VirtualWork;

// Picoseconds that run number `run` takes, from 0.
int64_t virtual_work_ps(const VirtualWork *work, int64_t run);
// Lets the time of `times` runs pass.
void virtual_work_run(VirtualWork *work, int64_t times, VirtualTime *time);

// Append " base=... jitter=..." to `text`, and read the work back; `runs` is not written.
void virtual_work_write(const VirtualWork *work, char *text, size_t size);
VirtualWork virtual_work_read(const char *input);

// Do the same for the clock's fields.
void virtual_clock_write(const VirtualClock *clock, char *text, size_t size);
VirtualClock virtual_clock_read(const char *input);

#endif
