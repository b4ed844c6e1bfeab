// profile_diff.h -- what differs between two profiles: counts exactly, times by how far fresh
// processes of one and of the other lie apart. Not here: measuring these (program/program_diff.c),
// or printing it (diff_print.h).
#ifndef PROFILER_COMPARE_PROFILE_DIFF_H
#define PROFILER_COMPARE_PROFILE_DIFF_H

#include "profiler/files/profile_read.h"
#include "profiler/measure/ratio.h"

typedef struct DiffTime { // of the step, or of a layer's forward, backward or optimizer
    const char *path;     // the profile's; "" of the step
    ReportPhase phase;
    double before, after; // seconds for a unit of work (ProfileDiff.units); 0: it is not there
    Ratio ratio;          // after / before; estimate 0: not of both there are times of several runs
    bool judged;          // there were runs enough to be sure of anything
    int sure;             // 1: it takes longer, -1: shorter, 0: neither can be told
} DiffTime;

typedef struct DiffCount {
    const char *path, *phase; // "" of the whole
    char name[24];            // "total_flops", as in the JSON
    int64_t before, after;    // -1: it is not there
} DiffCount;

typedef struct ProfileDiff {
    DiffTime step;
    DiffTime *times;   // owned: of layers, in their order
    DiffCount *counts; // owned: those that differ, the whole's first
    int64_t n_times, n_counts;
    int64_t runs_before, runs_after; // processes; fewer than 2: there is no ratio
    int64_t units;                   // that times are of: a step's, or 1 where steps do not match
    int64_t compared;                // so many layers' phases are judged
    // How many times as long the machine itself took, for arithmetic and memory; NaN: not known.
    double pace_flops, pace_bytes;
} ProfileDiff;

typedef struct DiffHow {
    // The two were measured at different moments: each interval also holds what it would be had the
    // machine been as fast both times, at arithmetic or at memory.
    bool apart;
    // And on different machines: times of before are as if it had been measured on the one of now,
    // by what it is slower or faster at both.
    bool elsewhere;
    // One of two sets of runs, which is to be confirmed: each layer's interval is 98 % sure by
    // itself, which five runs can be with one that went astray. Else 95 % for all of them together.
    bool one_of_two;
} DiffHow;

// *diff borrows the profiles' names; profile_diff_free it, also after a failure.
//
//     profile_diff(&base.profile, &now.profile, (DiffHow){.apart = true}, &diff);
//     printf("%+.1f%%\n", 100.0 * (diff.step.ratio.estimate - 1.0));
Status profile_diff(const Profile *base, const Profile *now, DiffHow how, ProfileDiff *diff);
void profile_diff_free(ProfileDiff *diff);

// Of the same layers in two sets of runs and in all of them together: what both sets are sure of,
// with the same sign, the whole stays sure of, and of nothing else; second NULL: of nothing.
void profile_diff_confirm(ProfileDiff *whole, const ProfileDiff *first, const ProfileDiff *second);

// Why times of the two cannot be compared: another processor, other threads, another BLAS ...; ""
// where they can. What was profiled is no such reason, but its own: another network or batch.
typedef struct DiffReason {
    char environment[240], work[240];
} DiffReason;
DiffReason profile_diff_reason(const SavedProfile *base, const SavedProfile *now);

#endif
