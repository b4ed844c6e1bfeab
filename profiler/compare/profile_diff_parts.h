// profile_diff_parts.h -- internal to compare/: compares times of two profiles, run by run.
#ifndef PROFILER_COMPARE_PROFILE_DIFF_PARTS_H
#define PROFILER_COMPARE_PROFILE_DIFF_PARTS_H

#include "profiler/compare/profile_diff.h"

// Dividing a time by a divisor removes the machine's speed during that process. The divisors are 1,
// one of two beats, and each of these three times the process's share of its cores.
enum { DIVISORS = 6 };

typedef struct TimePairs {
    const Profile *base, *now;
    double units_before, units_after; // divisors of a step's times
    bool apart;                       // false: run i of one was measured beside run i of the other
    bool divided;                     // both have a comparable metronome
    double reference[DIVISORS];       // median of each divisor over the runs of `now`
    double *before, *after;           // owned; RATIO_MOST values each
} TimePairs;

// Also sets the metronome fields of *diff. Call time_pairs_end, also after a failure.
Status time_pairs_begin(const Profile *base, const Profile *now, bool apart, TimePairs *all,
                        ProfileDiff *diff);
// Compares two phases; either may be NULL. *time already has path and phase. `doubted` is the
// highest probability that an unchanged phase is reported as changed.
Status time_pairs_compare(const TimePairs *all, const ProfilePhase *before,
                          const ProfilePhase *after, double doubted, DiffTime *time);
void time_pairs_end(TimePairs *all);
int64_t profile_runs(const Profile *profile); // number of processes; 0: nothing ran

#endif
