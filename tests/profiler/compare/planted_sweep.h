// planted_sweep.h -- a sweep as if it had been measured: for what tells which points are worth
// having, and how that looks.
#ifndef TESTS_PROFILER_COMPARE_PLANTED_SWEEP_H
#define TESTS_PROFILER_COMPARE_PLANTED_SWEEP_H

#include "profiler/compare/sweep.h"

// Axes as --sweep takes them, up to NULL. Points take fixed + each * batch seconds (a batch where
// that is no axis: 1), a sample more 100 bytes at a peak of 1,000; nothing is judged. sweep_free
// it.
Sweep planted_sweep(const char *const axes[], double fixed, double each);

// The same, and trained: a tenth of a second, to that accuracy; losses fall to `loss`.
void planted_training(SweepPoint *point, double loss, double accuracy);

#endif
