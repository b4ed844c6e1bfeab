// rank.h -- finds the layers that take most of a step, identical layers grouped. Decided within
// each observed step: a step that was slow as a whole, because other work had the cores, does not
// change the order of layers.
#ifndef PROFILER_MEASURE_RANK_H
#define PROFILER_MEASURE_RANK_H

#include "profiler/measure/profile.h"

RIDGEPOINT_API_BEGIN

// Layers of one type with equal shapes and FLOPs; or the time outside layers, between the ops.
typedef struct RankedKind {
    int layer;        // first of them in Profile.layers; -1: between the ops
    int alike;        // number of layers
    int64_t first;    // number of steps in which they took more than any other kind
    double seconds;   // sum of their medians
    double low, high; // their part of the step in the middle 90 % of the steps
} RankedKind;

enum { RANK_MOST = 2 };
typedef struct Rank {
    int64_t steps; // number of observed steps; 0: only one time of each layer is known
    int n;         // size of `kinds`: 0 if nothing was timed; 2 if the first is between the ops, or
                   // if other kinds took most in over a fifth of the steps
    RankedKind kinds[RANK_MOST];
} Rank;

// *rank is written on success only: STATUS_OUT_OF_MEMORY.
Status rank_find(const Profile *profile, Rank *rank);

RIDGEPOINT_API_END

#endif
