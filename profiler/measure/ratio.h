// ratio.h -- estimates the ratio of two times, and its confidence, from a few samples of each.
// Not here: statistics of one list of times (statistics.h), or a ratio's meaning (compare/).
#ifndef PROFILER_MEASURE_RATIO_H
#define PROFILER_MEASURE_RATIO_H

#include <stdbool.h>
#include <stdint.h>

#include "tensor/status.h"

// The estimate is the median of all n x m ratios after/before (Hodges and Lehmann, Ann. Math. Stat.
// 34, 1963, of logarithms). The interval assumes no distribution: ratios number k and n m + 1 - k
// (sorted, from 1), with the largest k for which P(Mann and Whitney's U < k), if nothing changed,
// is at most (1 - confidence) / 2. With 5 and 5 samples that is 3 and 23 for 95 %.
typedef struct Ratio {
    double estimate, low, high;
    double confidence; // of the interval: at least the requested one, if possible
    bool reached;      // false: k is 1, too few samples for that confidence
} Ratio;

enum { RATIO_MOST = 1000 }; // maximum number of samples of each

// Times are finite and above 0, 1 to RATIO_MOST of each; 0 < confidence < 1. *out is written only
// on success: STATUS_INVALID_ARGUMENT, STATUS_OUT_OF_MEMORY.
Status ratio_find(const double *before, int64_t n, const double *after, int64_t m,
                  double confidence, Ratio *out);

// Estimates the ratio from n pairs, before[i] measured beside after[i], so that changes between
// pairs cancel. All n (n + 1) / 2 means of two of the pairs' log ratios (or of one with itself) are
// sorted; the interval ends at number k from either side, with the largest k for which P(Wilcoxon's
// signed-rank sum < k), if nothing changed, is at most (1 - confidence) / 2. With 10 pairs that is
// 9 for 95 %.
Status ratio_find_paired(const double *before, const double *after, int64_t n, double confidence,
                         Ratio *out);

#endif
