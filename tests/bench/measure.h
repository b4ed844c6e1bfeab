// measure.h -- timing for the benchmarks: one sample of some work, medians, times as text.
#ifndef TESTS_BENCH_MEASURE_H
#define TESTS_BENCH_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Work {
    void (*run)(void *state, int64_t times); // NULL: nobody does this
    void *state;
    double estimate; // seconds a run took in the last sample; 0: none yet
} Work;

double measure_now(void); // seconds, monotonic

// Runs for about `seconds`, at least once, after a first run that brings the data into the caches
// (unless a single run is longer than that). Returns seconds per run; NaN when there is no work.
double measure_work(Work *work, double seconds);

// CPU seconds since the start that everybody (own: only we and our ended children) used, of all
// cores together; NaN where the system does not say.
double measure_cpu_seconds(bool own);

double measure_median(double *values, int n); // sorts them; NaN of none

// "35.2 us" into text; "-" for NaN. Returns text.
enum { MEASURE_TEXT = 16 };
char *measure_text(double seconds, char text[MEASURE_TEXT]);

// On a cache line of its own, zeroed or as it comes; ends the program if there is none.
void *measure_memory(size_t bytes);
void *measure_room(size_t bytes);

// What RIDGEPOINT_BENCH_SECONDS asks for, else `otherwise`.
double measure_budget(double otherwise);

#endif
