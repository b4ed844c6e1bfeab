// rank.h -- which layers a step spends most time in, layers alike taken together. Decided within
// each observed step: that a step was slow as a whole, because other work had the cores, moves no
// layer before another.
#ifndef PROFILER_MEASURE_RANK_H
#define PROFILER_MEASURE_RANK_H

#include "profiler/measure/profile.h"

RIDGEPOINT_API_BEGIN

// Layers of one type, with the same shapes and FLOPs; or what no layer takes, between the ops.
typedef struct RankedKind {
    int layer;        // the first of them, of Profile.layers; -1: between the ops
    int alike;        // how many there are
    int64_t first;    // steps in which they took more than any other kind
    double seconds;   // their medians, added
    double low, high; // their part of the step, in the middle 90 % of the steps
} RankedKind;

enum { RANK_MOST = 2 };
typedef struct Rank {
    int64_t steps; // observed; 0: only one time of each layer is known
    int n;         // of `kinds`: 0 where nothing was timed, 2 where the first is between the ops,
                   // or where others than it took most of more than a fifth of the steps
    RankedKind kinds[RANK_MOST];
} Rank;

// *rank is written on success only: STATUS_OUT_OF_MEMORY.
Status rank_find(const Profile *profile, Rank *rank);

RIDGEPOINT_API_END

#endif
