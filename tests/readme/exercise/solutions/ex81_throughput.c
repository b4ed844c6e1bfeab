// ex81_throughput.c -- exercise 81, solved.
#include "exercises/ex81_throughput.h"

static double between(struct timespec start, struct timespec end) {
    return (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec);
}

Status throughput(void (*work)(void *), void *argument, int64_t runs, double *per_second) {
    struct timespec start, end;
    if (runs < 1) return STATUS_INVALID_ARGUMENT;
    work(argument);
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (int64_t i = 0; i < runs; i++) work(argument);
    clock_gettime(CLOCK_MONOTONIC, &end);
    *per_second = (double)runs / between(start, end);
    return STATUS_OK;
}
