// planted_sweep.h -- a sweep with made-up measurements, for tests of the choice of points and of
// their print.
#ifndef TESTS_PROFILER_COMPARE_PLANTED_SWEEP_H
#define TESTS_PROFILER_COMPARE_PLANTED_SWEEP_H

#include "profiler/compare/sweep.h"

// Axes as --sweep takes them, up to NULL. A point takes fixed + each * batch seconds (batch 1 if
// that is no axis) and has a peak of 1,000 bytes plus 100 per sample; nothing is judged yet. Free
// it with sweep_free.
Sweep planted_sweep(const char *const axes[], double fixed, double each);

// Makes the point a trained one: 0.1 s of training, that accuracy, and losses that fall to `loss`.
void planted_training(SweepPoint *point, double loss, double accuracy);

#endif
