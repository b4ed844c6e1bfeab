// machine_timing.c -- repeats short runs until the clock can resolve them, and keeps the best.
#include "profiler/machine/machine_parts.h"

#include <math.h>

#include "tensor/clock.h"
#include "tensor/context.h"

enum { MOST_SAMPLES = 64 };
static const double least_sample = 1e-3; // seconds: long for the clock, short for a scheduler
static const double most_hold = 0.1;     // seconds

typedef struct Sample {
    MachineTime took;
    double launching; // seconds until all of it was queued
} Sample;

// hold: seconds before the device begins
static Status take_sample(MachineWork work, void *argument, int64_t times, double hold,
                          Sample *sample) {
    Device *device = context_current()->device;
    bool stamps = device_has_stamps(device);
    int64_t stamped[2];
    MachineTime *took = &sample->took;
    double start = clock_seconds();
    Status status = hold > 0.0 ? device->hold(device, (int64_t)(1e9 * hold)) : STATUS_OK;
    if (!status && stamps) status = device->stamp(device, 0);
    if (!status) work(argument, times);
    sample->launching = clock_seconds() - start;
    if (!status && stamps) status = device->stamp(device, 1);
    if (!status)
        status = stamps ? device->stamps_read(device, 2, stamped) : device_synchronize(device);
    if (status || error_pending()) return error_status();
    took->waited = took->device = clock_seconds() - start;
    if (stamps) took->device = fmax(1e-9 * (double)(stamped[1] - stamped[0]), 1e-9);
    return STATUS_OK;
}

// Other programs only ever add time, often to most samples, when several threads need their cores
// at once; a ceiling is the time without them. Runs that turn out too short serve as warm-up.
static Status best_of(MachineWork work, void *argument, double seconds, bool queued,
                      MachineTime *once) {
    Device *device = context_current()->device;
    Status status = device_synchronize(device);
    if (!status && device_has_stamps(device)) status = device->stamps_reserve(device, 2);
    double begin = clock_seconds();
    queued = queued && device->hold;
    int64_t times = 1, launched = 1;
    Sample sample = {0};
    *once = (MachineTime){HUGE_VAL, HUGE_VAL};
    for (int n = 0;
         !status && (n == 0 || (n < MOST_SAMPLES && clock_seconds() - begin < seconds));) {
        double launching = sample.launching / (double)launched * (double)times;
        double hold = queued ? fmin(1.5 * launching + 50e-6, most_hold) : 0.0;
        status = take_sample(work, argument, times, hold, &sample);
        if (status) break;
        MachineTime took = sample.took;
        took.waited -= hold; // excludes the requested hold, which rarely exceeds the run
        launched = times;
        if (took.waited < least_sample) {
            times *= took.waited < least_sample / 16 ? 8 : 2;
            continue;
        }
        once->device = fmin(once->device, took.device / (double)times);
        once->waited = fmin(once->waited, took.waited / (double)times);
        n++;
    }
    return status;
}

Status machine_time(MachineWork work, void *argument, double seconds, MachineTime *once) {
    return best_of(work, argument, seconds, false, once);
}

Status machine_time_queued(MachineWork work, void *argument, double seconds, MachineTime *once) {
    return best_of(work, argument, seconds, true, once);
}
