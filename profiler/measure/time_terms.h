// time_terms.h -- the four terms that make up a measured time: "700 us at best + 52.0 us slower
// kernels + 12.0 us threads + 3.00 us off the cores + 31.0 us not explained".
#ifndef PROFILER_MEASURE_TIME_TERMS_H
#define PROFILER_MEASURE_TIME_TERMS_H

#include "tensor/status.h"

RIDGEPOINT_API_BEGIN

// The parts of a time, in seconds. Each term is found independently; none is a remainder.
typedef struct TimeTerms {
    double roofs; // sum of the ops' roofs; known without a measurement
    double
        kernels; // time of the ops beyond their roofs when run alone and warm, with their dispatch;
                 // NaN: unknown (nothing ran, a card, no ceilings, an op that cannot be repeated)
    double threads; // handing ranges of work to other threads, and waking sleeping ones
    double others;  // whole step: the calling thread was on no core, or the system worked
    double faults;  // page faults, a part of `others`
} TimeTerms;
// The seconds that no term explains; negative if the terms sum to more. NaN: unknown.
double time_terms_left(const TimeTerms *terms, double seconds);

RIDGEPOINT_API_END

#endif
