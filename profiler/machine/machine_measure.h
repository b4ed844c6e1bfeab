// machine_measure.h -- the measurements behind machine_calibrate, with the current context's
// threads: each the best of many samples of at least 1 ms, within so many seconds. Not here:
// memory's (machine_bandwidth.h).
#ifndef PROFILER_MACHINE_MACHINE_MEASURE_H
#define PROFILER_MACHINE_MACHINE_MEASURE_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include "tensor/status.h"

// With a thread for each processor that this process may use, gives each a processor of its own
// until it is left: a system may keep two busy threads on one processor for seconds, and then half
// a machine would be measured. With fewer threads, the system places them.
typedef struct MachinePlaces {
    cpu_set_t before; // of the calling thread
    bool taken;
} MachinePlaces;

void machine_places_take(MachinePlaces *places);
void machine_places_leave(const MachinePlaces *places);

// Memory to measure in, touched: one block, so that the system gets all of it back.
typedef struct MachineScratch {
    float *data;
    int64_t bytes;
} MachineScratch;

enum { MACHINE_SCRATCH_LEAST = 64 << 20 }; // bytes; the matrices of the peak fit into it

Status machine_scratch_new(int64_t bytes, MachineScratch *scratch);
void machine_scratch_free(MachineScratch *scratch);

// FLOP/s of a square product at the best of several sizes.
Status machine_measure_peak(const MachineScratch *scratch, double seconds,
                            double *flops_per_second);

// Seconds that an op on one element takes, without a gradient: where a device runs behind the
// caller's back, how far apart it runs those of a long queue.
Status machine_measure_dispatch(double seconds, double *dispatch_seconds);
// Of such an op, the seconds from call to return.
Status machine_measure_call(double seconds, double *call_seconds);

// Seconds from handing a job to another thread until it has begun and ended, by how that thread
// waits. 0 with one thread.
Status machine_measure_threads(double seconds, double *spin_seconds, double *wake_seconds);

#endif
