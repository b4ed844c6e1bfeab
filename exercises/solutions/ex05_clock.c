// ex05_clock.c -- exercise 05, solved.
#include "exercises/ex05_clock.h"

#include <stdint.h>

enum { FEWEST_STEPS = 100 };

static double seconds_between(struct timespec start, struct timespec end) {
    return (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) * 1e-9;
}

static double step_seconds(void) {
    struct timespec step;
    clock_getres(CLOCK_MONOTONIC, &step);
    return (double)step.tv_sec + (double)step.tv_nsec * 1e-9;
}

Status clock_elapsed(void (*work)(void *), void *argument, double *seconds) {
    double enough = FEWEST_STEPS * step_seconds();
    double elapsed;
    int64_t runs = 1;
    for (;;) {
        struct timespec start, end;
        clock_gettime(CLOCK_MONOTONIC, &start);
        for (int64_t i = 0; i < runs; i++) work(argument);
        clock_gettime(CLOCK_MONOTONIC, &end);
        elapsed = seconds_between(start, end);
        if (elapsed >= enough) break;
        runs *= 2;
    }
    *seconds = elapsed / (double)runs;
    return STATUS_OK;
}
