// statistics.h -- summarises a list of latency samples: its centre, its spread and its certainty.
// Not here: taking the samples, or deciding when there are enough of them to stop.
#ifndef PROFILER_BASE_STATISTICS_H
#define PROFILER_BASE_STATISTICS_H

#include "tensor/status.h"

#include <stdint.h>

RIDGEPOINT_API_BEGIN

// All values have the samples' unit. Latencies are skewed (interrupts only ever add time), so the
// median is the headline, and its interval assumes no distribution.
typedef struct LatencyStatistics {
    int64_t n;
    double min, max;
    double mean;
    double stddev;         // divisor n - 1; NaN for one sample, which has no spread
    double median;         // quantile 1/2
    double iqr;            // quantile 3/4 - quantile 1/4
    double lower_quartile; // quantile 1/4
    // The quantile q is at position h = (n - 1) q of the sorted samples counted from 0, linearly
    // interpolated between its neighbours (Hyndman and Fan's type 7, numpy's default 'linear').

    // A 95 % confidence interval of the median: the sorted samples number r and n + 1 - r (from 1),
    // with the largest r for which P(Binomial(n, 1/2) < r) <= 2.5 %. (Fewer than r samples fall
    // below the true median that rarely; the same holds above.) So its confidence is never below 95
    // %. For n < 6, even min..max does not reach that: then the two are min and max, and the flag
    // is false.
    double ci95_low, ci95_high;
    bool ci95_reached;
    double confidence; // of the interval: at least 0.95 if reached, else 1 - 2^(1 - n)
} LatencyStatistics;

// Summarises n >= 1 finite samples >= 0, in any order; they are not modified. On failure *out is
// not written: STATUS_INVALID_ARGUMENT (no sample, or a negative one), STATUS_NON_FINITE,
// STATUS_OUT_OF_MEMORY (it sorts a copy).
Status statistics_summarise(const double *seconds, int64_t n, LatencyStatistics *out);

// Finds the percentile `percent` in [50, 100): 99.9 for p99.9. p50 is the median; any other is the
// nearest rank, sorted sample number ceil(percent / 100 * n), so it is a latency that occurred.
// With fewer than statistics_samples_needed(percent) samples, *value is NaN, *enough false, and
// *missing the number of missing samples (else 0). Fails like statistics_summarise, also for
// `percent` out of range; then nothing is written.
Status statistics_percentile(const double *seconds, int64_t n, double percent, double *value,
                             bool *enough, int64_t *missing);

// The smallest n with 1 - (percent / 100)^n >= 99 %: with n samples, at least one lies beyond that
// percentile at 99 % confidence; fewer may miss the tail altogether. p90 44, p95 90, p99 459, p99.9
// 4603; p50 1, because a median needs no tail; 0 if `percent` is not in [50, 100).
int64_t statistics_samples_needed(double percent);

// True if times have settled: the medians of the last `window` samples and of the `window` before
// them differ by at most `tolerance` of the smaller. False with too few samples; a window is at
// most STATISTICS_MOST_WINDOW.
enum { STATISTICS_MOST_WINDOW = 31 };
bool statistics_steady(const double *seconds, int64_t n, int window, double tolerance);

// True if samples, in the order in which they were taken, rise or fall: by the Mann-Kendall test at
// 99 % (Mann, Econometrica 13, 1945: how many of all pairs rise, and how many fall), and only if
// the medians of the first and the last third differ by more than `tolerance` of the first's, since
// a certain trend may be small. False with fewer than STATISTICS_LEAST_TREND samples.
enum { STATISTICS_LEAST_TREND = 20 };
bool statistics_trend(const double *seconds, int64_t n, double tolerance);

RIDGEPOINT_API_END

#endif
