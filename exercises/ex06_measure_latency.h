// ex06_measure_latency.h -- exercise 06: which of many times can you trust?
//
// WHY    Run the same function ten times and you get ten different times. The first is the slowest:
//        memory is touched for the first time, caches are empty, tables are built. Now and then
//        something else uses the processor, and one run takes five times as long; nothing ever
//        makes a run faster than it can be. So the mean says more about interruptions than about
//        your function, and one run says nothing. A measurement is therefore a small protocol: warm
//        up, take samples, report the middle and the spread. Skip a step, and you publish noise.
//
// TODO   Write measure_latency in exercises/ex06_measure_latency.c.
//
// APPROACH (a number in brackets is a clause, which is graded on its own)
//   1. Refuse options that make no sense (below) [1]. Allocate room for all samples now: an
//      allocation between two samples costs time, disturbs the caches, and ends up in your numbers
//      [2].
//   2. Call run(argument) options.warmup times, without measuring these calls [3].
//   3. options.iterations times: read CLOCK_MONOTONIC, run once, read it again. The difference, in
//      seconds, is one sample; n of them [4]. Nothing else happens in this loop.
//   4. Sort the samples: s[0] <= s[1] <= ... <= s[n - 1]. min, max, mean are plain [5].
//   5. The quantile q is at position h = (n - 1) * q, from 0; between two samples interpolate
//      linearly. With b = floor(h):  s[b] + (h - b) * (s[b + 1] - s[b]).
//      median = quantile 1/2 [6].   iqr = quantile 3/4 - quantile 1/4, the width of the middle half
//      [7]. With one sample the median is that sample and the iqr is 0; s[b + 1] is not there [8].
//   6. p95 is a latency that did occur: the sorted sample number ceil(0.95 * n), counted from
//      1 [9]. With fewer than 90 samples it is unavailable: store NAN [10]. (With n samples, at
//      least one lies beyond the 95th percentile with probability 1 - 0.95^n; that reaches 99 % at
//      n = 90.)
//   7. Free the samples [11].
//
// EXAMPLE
//   warmup 1, iterations 4; the runs take 52, 11, 10, 30, 12 ms:
//       samples 11, 10, 30, 12 ms, sorted 10, 11, 12, 30 ms;   n = 4
//       median: h = 1.5     ->  11 + 0.5 * (12 - 11)           = 11.5 ms  -> 0.0115 s
//       mean                ->  (11 + 10 + 30 + 12) / 4        = 15.75 ms -> 0.01575 s
//       iqr: h = 2.25, 0.75 ->  (12 + 0.25 * 18) - (10 + 0.75) = 5.75 ms  -> 0.00575 s
//       min 0.010 s, max 0.030 s, p95 NAN (90 - 4 = 86 samples are missing)
//   With 100 samples, p95 is sorted sample number 95: s[94].
//
// HINTS
//   * qsort needs a comparison that returns less than, equal to or greater than 0. Do not return
//     the difference of two doubles: as an int, 0.001 s is 0.
//   * ceil(0.95 * n) is (95 * n + 99) / 100 in integers: no rounding of doubles to think about.
//   * NAN is in <math.h>.
//   * When you measure code of your own, use its result (print it, add it up): the compiler removes
//     work whose result nobody uses. ./lab explain dead_code_elimination
//   * A warm-up is not superstition: ./lab explain page_faults, thread_wake_up and
//     cold_and_warm_caches explain what slows the first runs.
#ifndef EXERCISES_EX06_MEASURE_LATENCY_H
#define EXERCISES_EX06_MEASURE_LATENCY_H

#include <stdint.h>

#include "tensor/status.h"

typedef struct LatencyOptions {
    int64_t warmup;     // runs before the first sample, at least 0
    int64_t iterations; // samples, at least 1
} LatencyOptions;

typedef struct LatencyResult { // times in seconds
    int64_t n;                 // number of samples
    double median, mean, min, max;
    double iqr; // width of the middle half, by linear interpolation
    double p95; // nearest rank; NAN with fewer than 90 samples
} LatencyResult;

// Measures how long run(argument) takes. Returns STATUS_OK; STATUS_INVALID_ARGUMENT for warmup < 0
// or iterations < 1, without calling run [1]; STATUS_OUT_OF_MEMORY when malloc finds no room for
// the samples, of which there may be many [12]. *result is only read with STATUS_OK.
Status measure_latency(void (*run)(void *), void *argument, LatencyOptions options,
                       LatencyResult *result);

#endif
