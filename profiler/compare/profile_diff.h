// profile_diff.h -- differences between two profiles: exact for counts; for times, a confidence
// interval over fresh processes of each side. Not here: measuring (program/program_diff.c).
#ifndef PROFILER_COMPARE_PROFILE_DIFF_H
#define PROFILER_COMPARE_PROFILE_DIFF_H

#include "profiler/base/environment.h"
#include "profiler/measure/profile.h"
#include "profiler/measure/ratio.h"

typedef struct SavedProfile { // read back (files/saved.h)
    // Latencies have count, median and `across`; memory has the peaks; no ops, no machine.
    Profile profile;
    Environment environment;
    char created[32], gpu[ENVIRONMENT_DEVICE];
} SavedProfile;

// The figures of one process's document (files/saved.h) that judge a change.
typedef struct RunFigures {
    double units_per_second;
    double phase[REPORT_COUNT]; // median seconds of each phase; 0: no such phase
    int64_t units;              // number of units in a step
    double beat;                // divisor of the step's time (profile_beat); NaN: none
    int threads;
    int64_t peak_bytes;
} RunFigures;

typedef struct DiffTime { // the step, or a layer's forward, backward or optimizer
    const char *path;     // the layer's, borrowed from the profile; "": the step
    ReportPhase phase;
    // Seconds for ProfileDiff.units units; 0: not there. If times are divided by the metronome,
    // both are scaled to the machine's median speed while `now` was measured.
    double before, after;
    Ratio ratio;  // after / before; estimate 0: a side lacks times of several runs
    double seen;  // smallest change that could be detected: 0.04 is 4 %; NaN: none, too few runs
    bool judged;  // there were enough runs for a confident result
    int sure;     // 1: certainly longer, -1: certainly shorter, 0: undecided
    bool is_open; // undecided, but a change seems likely: more runs may decide
} DiffTime;

typedef struct DiffCount {
    const char *path, *phase; // "": the whole step
    const char *name;         // as in the JSON, "total_flops"
    int64_t before, after;    // -1: not there
} DiffCount;

typedef struct ProfileDiff {
    DiffTime step;
    DiffTime *times;   // owned: by layer, in the model's order
    DiffCount *counts; // owned: counts that differ, those of the whole step first
    int64_t n_times, n_counts;
    int64_t runs_before, runs_after; // numbers of processes; fewer than 2: there is no ratio
    int64_t units;                   // units that times are for: a step's, or 1 if steps differ
    int64_t compared;                // number of judged layer phases
    // Each process's time is divided by its metronome's. If that is impossible, `undivided` says
    // why ("the base has no metronome"), and `product` and `read` are NaN.
    char undivided[80];
    double product, read; // metronome time now / before, for each of its parts
} ProfileDiff;

// How often a comparison may be evaluated while runs are added to it. Over all looks together, it
// is 95 % sure of the step, and 95 % sure of all layers together.
enum { DIFF_LOOKS = 3 };

// `apart`: the two were measured at different moments. Each interval is then wider by a
// microsecond, because op times depend on which core's cache holds the operands. *diff borrows the
// profiles' names; profile_diff_free it, also after a failure.
//
//     profile_diff(&base.profile, &now.profile, false, &diff);
//     printf("%+.1f%%\n", 100.0 * (diff.step.ratio.estimate - 1.0));
Status profile_diff(const Profile *base, const Profile *now, bool apart, ProfileDiff *diff);
void profile_diff_free(ProfileDiff *diff);
bool profile_diff_is_open(const ProfileDiff *diff); // any of its times is open

// Reasons for not comparing times, or "". `environment`: another processor, other threads, another
// BLAS ...; `work`: another network or batch.
typedef struct DiffReason {
    char environment[240], work[240];
} DiffReason;
DiffReason profile_diff_reason(const SavedProfile *base, const SavedProfile *now);

// ---- printing (diff_print.c) --------------------------------------------------------------------
typedef struct DiffStory {   // texts around the figures
    const char *with, *base; // "with " or ""; the name after "than": "base.json", "--fuse"
    const char *untimed;     // reason for not comparing times; NULL: they are compared
    const char *build;       // "the compiler was A, and is B"; "": same build
    const char *unit;        // unit of work, "samples"
} DiffStory;

// Both functions sort diff->times: certain changes first, by seconds.
// The summary: "2.1% faster (1.4 to 2.8) than base.json, in relu1 forward".
enum { DIFF_SENTENCE = 600 };
void diff_sentence(ProfileDiff *diff, const DiffStory *story, char text[DIFF_SENTENCE]);
// Prints the summary, the reason for not comparing times, and the tables, in 80 columns.
void diff_print(ProfileDiff *diff, const DiffStory *story, FILE *file);

#endif
