// profile_diff_parts.h -- internal to compare/: times of two profiles, run by run.
#ifndef PROFILER_COMPARE_PROFILE_DIFF_PARTS_H
#define PROFILER_COMPARE_PROFILE_DIFF_PARTS_H

#include "profiler/compare/profile_diff.h"

// Divisors take out of a time what the machine gave its process: nothing, one of two beats, and
// each of these three also times the process's share of its cores.
enum { DIVISORS = 6 };

typedef struct TimePairs {
    const Profile *base, *now;
    double units_before, units_after; // that a step's times are divided by
    bool apart;                 // else run number i of the one was measured beside the other's
    bool divided;               // both have a metronome
    double reference[DIVISORS]; // now's median of each
    double *before, *after;     // owned; (RATIO_MOST)
} TimePairs;

// Also says what the metronomes differ by. time_pairs_end it, also after a failure.
Status time_pairs_begin(const Profile *base, const Profile *now, bool apart, TimePairs *all,
                        ProfileDiff *diff);
// Compares two phases, either of which may be NULL; *time has path and phase already. An unchanged
// phase is told to have changed with probability `doubted` at most.
Status time_pairs_compare(const TimePairs *all, const ProfilePhase *before,
                          const ProfilePhase *after, double doubted, DiffTime *time);
void time_pairs_end(TimePairs *all);
int64_t profile_runs(const Profile *profile); // processes; 0: nothing ran

#endif
