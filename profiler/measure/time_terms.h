// time_terms.h -- the four terms that a measured time is told in: "700 us at best + 52.0 us slower
// kernels + 12.0 us threads + 3.00 us off the cores + 31.0 us not explained".
#ifndef PROFILER_MEASURE_TIME_TERMS_H
#define PROFILER_MEASURE_TIME_TERMS_H

#include "tensor/status.h"

RIDGEPOINT_API_BEGIN

// Where a time went, in seconds. Each term is found by itself; none is a remainder.
typedef struct TimeTerms {
    double roofs; // of the ops, one after the other; known without a measurement
    double
        kernels; // what the ops take beyond their roofs alone and warm, with their dispatch; NaN:
                 // not known (nothing ran, a card, no ceilings, an op that cannot run again)
    double threads; // handing ranges of work to other threads, and waking those that sleep
    double others;  // of a whole step: the calling thread was on no core, or the system served
    double faults;  // page faults, which are this part of `others`
} TimeTerms;
// The seconds that no term explains, below 0 where the terms add up to more. NaN: not known.
double time_terms_left(const TimeTerms *terms, double seconds);

RIDGEPOINT_API_END

#endif
