// machine_timing.h -- how long something takes at best, on the current context's device. Not here:
// what is done, and what its time says of the machine (machine_measure.h, machine_device.h).
#ifndef PROFILER_MACHINE_MACHINE_TIMING_H
#define PROFILER_MACHINE_MACHINE_TIMING_H

#include <stdint.h>

#include "tensor/status.h"

// What is measured, so many times in a row. It may leave an error pending.
typedef void (*MachineWork)(void *argument, int64_t times);

typedef struct MachineTime {
    double device; // seconds by the device's own stamps; where it has none, as `waited`
    double waited; // until the device was done with it, by the clock
} MachineTime;

// Of doing it once: the best of samples of at least 1 ms, within about `seconds`; one in any case.
Status machine_time(MachineWork work, void *argument, double seconds, MachineTime *once);
// The same, but the device begins only when all of a sample is queued, where it can be held so
// long: what it does is then shorter than launching it, and would wait for the host in between.
Status machine_time_queued(MachineWork work, void *argument, double seconds, MachineTime *once);

#endif
