// planted_profile.h -- profiles whose counts and times the test chooses, so that the difference
// between two of them is known.
#ifndef TESTS_PROFILER_COMPARE_PLANTED_PROFILE_H
#define TESTS_PROFILER_COMPARE_PLANTED_PROFILE_H

#include "profiler/measure/profile.h"

// Layers "fc1", "relu1", "fc2" of a step of 1 ms (0.4, 0.1 and 0.2 ms forward; backward the same
// less a tenth of the whole; only fc1 has an optimizer). Its runs differ by 1 % at most, drawn from
// `seed`; a single run has no `across`. Free it with profile_free.
Profile planted_profile(int runs, unsigned seed);
// Sets the metronome's seconds in each run; both are 0.2 ms unless this is called.
void planted_metronome(Profile *profile, double product, double read);
// Multiplies the time of a layer's phase, or with path NULL of the step, in all its runs.
void planted_slow(Profile *profile, const char *path, ReportPhase phase, double times);
ProfileLayer *planted_layer(Profile *profile, const char *path);

#endif
