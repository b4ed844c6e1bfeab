// time_parts.h -- the parts that measured time is told in: "roof 700 us + kernel 52.0 us +
// hand-offs 12.0 us + left 31.0 us".
#ifndef PROFILER_MEASURE_TIME_PARTS_H
#define PROFILER_MEASURE_TIME_PARTS_H

#include "tensor/status.h"

RIDGEPOINT_API_BEGIN

// Where measured time went, in seconds: each part is measured by itself, none is a remainder. What
// they leave is unexplained. Not known on a card, and without ceilings: then roof is 0.
typedef struct TimeParts {
    double roof;       // at best
    double other_core; // of it, fetching what lies in another core's caches
    double kernel;     // beyond it, alone and warm; NaN: one of them could not be run again
    double handoff;    // giving work to threads that spin: so often, times what one takes
    double wake;       // and to threads that sleep
    double dispatch;   // of so many ops
    // Of a step alone: page faults, so many times what one takes; and when the calling thread was
    // on no core, because it slept or others ran.
    double fault, off_core;
} TimeParts;
// Of so many seconds, what no part explains; below 0 where they come to more.
double time_parts_left(const TimeParts *parts, double seconds);

RIDGEPOINT_API_END

#endif
