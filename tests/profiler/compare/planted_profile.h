// planted_profile.h -- profiles whose counts and times are the test's: what differs between two of
// them is known.
#ifndef TESTS_PROFILER_COMPARE_PLANTED_PROFILE_H
#define TESTS_PROFILER_COMPARE_PLANTED_PROFILE_H

#include "profiler/measure/profile.h"

// Layers "fc1", "relu1", "fc2" of a step of 1 ms (0.4, 0.1 and 0.2 ms forward; backward the same
// less a tenth of the whole; fc1 alone has an optimizer), in so many runs that differ by 1 % at
// most, each draw another; one run: without `across`. Yours to profile_free.
Profile planted_profile(int runs, unsigned seed);
// Its metronome takes so long beside each run, 0.2 ms for both unless this is called.
void planted_metronome(Profile *profile, double product, double read);
// A layer's phase, or with path NULL the step, takes so many times as long, in all its runs.
void planted_slow(Profile *profile, const char *path, ReportPhase phase, double times);
ProfileLayer *planted_layer(Profile *profile, const char *path);

#endif
