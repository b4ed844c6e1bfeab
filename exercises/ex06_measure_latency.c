// ex06_measure_latency.c -- exercise 06: latency, measured. The task is in ex06_measure_latency.h.
#include "exercises/ex06_measure_latency.h"

Status measure_latency(void (*run)(void *), void *argument, LatencyOptions options,
                       LatencyResult *result) {
    // TODO: room for the samples; warm up; take samples; sort them; fill in *result.
    (void)run;
    (void)argument;
    (void)options;
    (void)result;
    return STATUS_NOT_IMPLEMENTED;
}
