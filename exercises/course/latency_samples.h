// latency_samples.h -- the results that a measurement of exercise 06 has to give. The samples come
// from the work's own schedule, their statistics from profiler/base/statistics; wrong values are
// other statistics of the same samples, or other samples.
#ifndef EXERCISES_COURSE_LATENCY_SAMPLES_H
#define EXERCISES_COURSE_LATENCY_SAMPLES_H

#include "exercises/course/exercise.h"
#include "exercises/course/wrong_clock.h"
#include "exercises/scene/virtual_time.h"
#include "profiler/base/statistics.h"

enum { LATENCY_MOST_RUNS = 2048 };

typedef struct LatencySamples {
    int64_t warmup, n;
    VirtualClock clock;
    VirtualWork work;
    // Filled in by latency_samples_take:
    double runs[LATENCY_MOST_RUNS]; // seconds of each run: first the warm-up, then the samples
    double sorted[LATENCY_MOST_RUNS];
    LatencyStatistics right, without_warmup; // without_warmup: of the first n runs
    double p95;
    struct { // values measured with each of wrong_clocks
        double median, mean;
    } wrong[WRONG_CLOCKS];
} LatencySamples;

// Fills in the rest from warmup, n, clock and work.
Status latency_samples_take(LatencySamples *samples);
// The value half-way through n values, interpolated: the median if they are sorted.
double latency_middle(const double *values, int64_t n);
// Adds the expected values that `ask` (LatencyValue) asks for.
void latency_samples_expect(const LatencySamples *samples, int64_t ask, CaseRun *run);

#endif
