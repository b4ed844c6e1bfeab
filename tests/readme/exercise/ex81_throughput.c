// ex81_throughput.c -- exercise 81: runs in a second. What to do is in ex81_throughput.h.
#include "exercises/ex81_throughput.h"

Status throughput(void (*work)(void *), void *argument, int64_t runs, double *per_second) {
    // TODO: warm up; read the clock, run, read the clock; divide.
    (void)work;
    (void)argument;
    (void)runs;
    (void)per_second;
    return STATUS_NOT_IMPLEMENTED;
}
