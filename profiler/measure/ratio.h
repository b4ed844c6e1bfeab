// ratio.h -- how many times as long something takes than it did, from a few times of each, and how
// sure that is. Not here: one list of times (statistics.h), or what a ratio means (compare/).
#ifndef PROFILER_MEASURE_RATIO_H
#define PROFILER_MEASURE_RATIO_H

#include <stdbool.h>
#include <stdint.h>

#include "tensor/status.h"

// Of all n x m ratios after/before the median (Hodges and Lehmann, Ann. Math. Stat. 34, 1963, of
// logarithms), and an interval that assumes no distribution: ratios number k and n m + 1 - k
// (sorted, from 1), with the largest k for which Mann and Whitney's U, were nothing changed, is
// below k in at most half of what is left to doubt. With 5 and 5 that is 3 and 23 for 95 %.
typedef struct Ratio {
    double estimate, low, high;
    double confidence; // of the interval: what was asked for at least, where it can be had
    bool reached;      // else k is 1: so few times are never as sure
} Ratio;

enum { RATIO_MOST = 1000 }; // times of each

// Times are finite and above 0, 1 to RATIO_MOST of each; 0 < confidence < 1. *out is written on
// success only: STATUS_INVALID_ARGUMENT, STATUS_OUT_OF_MEMORY.
Status ratio_find(const double *before, int64_t n, const double *after, int64_t m,
                  double confidence, Ratio *out);

// The same of n pairs, number i of the one beside number i of the other: what changes from pair to
// pair is in both. Of the logarithms of their ratios all n (n + 1) / 2 means of two (or of one with
// itself) are sorted; the ends are number k from both, with the largest k for which Wilcoxon's
// signed-rank sum, were nothing changed, is below k in at most half of what is left to doubt. With
// 10 pairs that is 9 for 95 %.
Status ratio_find_paired(const double *before, const double *after, int64_t n, double confidence,
                         Ratio *out);

#endif
