// statistics.h -- what a list of latency samples says: its centre, its spread, and how sure we are.
// Not here: taking the samples, or deciding when there are enough of them to stop.
#ifndef PROFILER_BASE_STATISTICS_H
#define PROFILER_BASE_STATISTICS_H

#include "tensor/status.h"

#include <stdint.h>

RIDGEPOINT_API_BEGIN

// All in the unit of the samples. Latencies are skewed (interrupts only ever add time), so the
// median is the headline and its interval assumes no distribution.
typedef struct LatencyStatistics {
    int64_t n;
    double min, max;
    double mean;
    double stddev;         // divisor n - 1; NaN for one sample, which has no spread to speak of
    double median;         // quantile 1/2
    double iqr;            // quantile 3/4 - quantile 1/4
    double lower_quartile; // quantile 1/4
    // The quantile q is at position h = (n - 1) q of the sorted samples counted from 0, linearly
    // interpolated between its neighbours (Hyndman and Fan's type 7, numpy's default 'linear').

    // A 95 % confidence interval of the median: the sorted samples number r and n + 1 - r (from 1),
    // with the largest r for which P(Binomial(n, 1/2) < r) <= 2.5 %. (Fewer than r samples fall
    // below the true median that rarely; the same holds above.) It is therefore never shorter than
    // 95 %. For n < 6 even min..max is not that sure: then the two are min and max, and the flag
    // is false.
    double ci95_low, ci95_high;
    bool ci95_reached;
    double confidence; // of that interval: at least 0.95 where reached; else 1 - 2^(1 - n)
} LatencyStatistics;

// Summarises n >= 1 finite samples >= 0, in any order; they are not modified. On failure *out is
// not written: STATUS_INVALID_ARGUMENT (no sample, or a negative one), STATUS_NON_FINITE,
// STATUS_OUT_OF_MEMORY (it sorts a copy).
Status statistics_summarise(const double *seconds, int64_t n, LatencyStatistics *out);

// The percentile `percent` in [50, 100): 99.9 for p99.9. p50 is the median; any other is the
// nearest rank, sorted sample number ceil(percent / 100 * n), hence a latency that did occur. With
// fewer than statistics_samples_needed(percent) samples *value is NaN, *enough false, and *missing
// how many more it takes (else 0). Fails like statistics_summarise, which is also for `percent`
// out of range; then nothing is written.
Status statistics_percentile(const double *seconds, int64_t n, double percent, double *value,
                             bool *enough, int64_t *missing);

// The smallest n with 1 - (percent / 100)^n >= 99 %: so many samples hold, at 99 % confidence, at
// least one beyond that percentile; with fewer, its estimate may have seen nothing of the tail.
// p90 44, p95 90, p99 459, p99.9 4603; p50 1, because a median needs no tail; 0 for
// what is not in [50, 100).
int64_t statistics_samples_needed(double percent);

// Whether times have settled: the medians of the last `window` samples and of the `window` before
// them differ by at most `tolerance` of the smaller. False while there are fewer; a window is at
// most STATISTICS_MOST_WINDOW.
enum { STATISTICS_MOST_WINDOW = 31 };
bool statistics_steady(const double *seconds, int64_t n, int window, double tolerance);

// Do samples, in the order in which they were taken, go up or down? By Mann and Kendall's test at
// 99 % (Mann, Econometrica 13, 1945: of all pairs, how many rise and how many fall), and only where
// the median of the last third is more than `tolerance` of the first third's away from it: what is
// certain may be small. False of fewer than STATISTICS_LEAST_TREND.
enum { STATISTICS_LEAST_TREND = 20 };
bool statistics_trend(const double *seconds, int64_t n, double tolerance);

RIDGEPOINT_API_END

#endif
