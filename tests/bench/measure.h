// measure.h -- timing for the benchmarks: one sample of some work, medians, times as text.
#ifndef TESTS_BENCH_MEASURE_H
#define TESTS_BENCH_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Work {
    void (*run)(void *state, int64_t times); // NULL: not available
    void *state;
    double estimate; // seconds per run in the last sample; 0: none yet
} Work;

double measure_now(void); // seconds, monotonic

// Runs for about `seconds`, at least once, after a first run that brings the data into the caches
// (unless a single run takes longer). Returns seconds per run; NaN without work.
double measure_work(Work *work, double seconds);

// CPU seconds used by everybody (own: only by us and our ended children) since the start, over all
// cores; NaN if the system does not tell.
double measure_cpu_seconds(bool own);

double measure_median(double *values, int n); // sorts them; NaN without values

// "35.2 us" into text; "-" for NaN. Returns text.
enum { MEASURE_TEXT = 16 };
char *measure_text(double seconds, char text[MEASURE_TEXT]);

// Memory on a cache line of its own, zeroed or not; ends the program if there is none.
void *measure_memory(size_t bytes);
void *measure_room(size_t bytes);

// The seconds that RIDGEPOINT_BENCH_SECONDS requests, or else `otherwise`.
double measure_budget(double otherwise);

#endif
