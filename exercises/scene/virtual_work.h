// virtual_work.h -- something to measure: every run of it takes as much virtual time as its
// schedule says. The schedule is the grader's alone: a worker only tells that the work ran.
#ifndef EXERCISES_SCENE_VIRTUAL_WORK_H
#define EXERCISES_SCENE_VIRTUAL_WORK_H

#include "exercises/scene/virtual_clock.h"
#include "exercises/support/input.h"

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
