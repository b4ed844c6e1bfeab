// profile_diff.h -- what differs between two profiles: counts exactly, times by how far fresh
// processes of one and of the other lie apart. Not here: measuring these (program/program_diff.c),
// or printing it (diff_print.h).
#ifndef PROFILER_COMPARE_PROFILE_DIFF_H
#define PROFILER_COMPARE_PROFILE_DIFF_H

#include "profiler/base/environment.h"
#include "profiler/measure/profile.h"
#include "profiler/measure/ratio.h"

typedef struct SavedProfile { // read back (files/saved.h)
    // Of each latency its count, its median and `across`; of memory the peaks; no ops, no machine.
    Profile profile;
    Environment environment;
    char created[32], gpu[ENVIRONMENT_DEVICE];
} SavedProfile;

// Of one process's document (files/saved.h), what a change is judged by.
typedef struct RunFigures {
    double units_per_second;
    double phase[REPORT_COUNT]; // seconds, medians; 0: there was none
    int64_t units;              // of a step
    double beat;                // by which the step is divided (profile_beat); NaN: it is not
    int threads;
    int64_t peak_bytes;
} RunFigures;

typedef struct DiffTime { // of the step, or of a layer's forward, backward or optimizer
    const char *path;     // the profile's; "" of the step
    ReportPhase phase;
    // Seconds for a unit of work (ProfileDiff.units); 0: it is not there. Where times are divided,
    // both as the machine was, in the median, while now was measured.
    double before, after;
    Ratio ratio;  // after / before; estimate 0: not of both there are times of several runs
    double seen;  // so small a change would have been told: 0.04 is 4 %; NaN: none, of so few runs
    bool judged;  // there were runs enough to be sure of anything
    int sure;     // 1: it takes longer, -1: shorter, 0: neither can be told
    bool is_open; // it seems to have changed, and more runs may tell
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
    // The time of each process is divided by its metronome's, unless that cannot be; then this says
    // why ("the base has no metronome"), and the two are NaN.
    char undivided[80];
    double product, read; // how many times as long the metronome took now, at each
} ProfileDiff;

// How often a comparison may be looked at while runs are added to it. At the last look it is 95 %
// sure of the step, and of all layers together, however many looks there were.
enum { DIFF_LOOKS = 3 };

// `apart`: the two were measured at different moments, so that each interval is wider by a
// microsecond, as an op takes by whose cache its operands lie in. *diff borrows the profiles'
// names; profile_diff_free it, also after a failure.
//
//     profile_diff(&base.profile, &now.profile, false, &diff);
//     printf("%+.1f%%\n", 100.0 * (diff.step.ratio.estimate - 1.0));
Status profile_diff(const Profile *base, const Profile *now, bool apart, ProfileDiff *diff);
void profile_diff_free(ProfileDiff *diff);
bool profile_diff_is_open(const ProfileDiff *diff); // any of its times is

// Why times of the two cannot be compared: another processor, other threads, another BLAS ...; ""
// where they can. What was profiled is no such reason, but its own: another network or batch.
typedef struct DiffReason {
    char environment[240], work[240];
} DiffReason;
DiffReason profile_diff_reason(const SavedProfile *base, const SavedProfile *now);

#endif
