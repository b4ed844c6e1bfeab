// latency_samples.h -- what a measurement of exercise 06 has to say: the samples are the work's own
// schedule, what they say is profiler/base/statistics; wrong values are other statistics of the
// same samples, or other samples.
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
    // By latency_samples_take:
    double runs[LATENCY_MOST_RUNS]; // seconds: of the warm-up, then of the samples
    double sorted[LATENCY_MOST_RUNS];
    LatencyStatistics right, without_warmup; // the latter: of the first n runs
    double p95;
    struct { // by each of wrong_clocks
        double median, mean;
    } wrong[WRONG_CLOCKS];
} LatencySamples;

// From warmup, n, clock and work, all else.
Status latency_samples_take(LatencySamples *samples);
// Of any n values, half-way through them: the median where they are sorted.
double latency_middle(const double *values, int64_t n);
// What `ask` (LatencyValue) asks for is expected.
void latency_samples_expect(const LatencySamples *samples, int64_t ask, CaseRun *run);

#endif
