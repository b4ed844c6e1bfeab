// advice_sample.h -- a profile made by hand that calls for advice, and a check of one piece of it.
#ifndef TESTS_PROFILER_ADVICE_ADVICE_SAMPLE_H
#define TESTS_PROFILER_ADVICE_ADVICE_SAMPLE_H

#include <math.h>

#include "profiler/advice/advice.h"
#include "tests/helpers/harness.h"

enum { FC1, RELU1, FC2, RELU2, FC3, LOSS, UPDATE, LAYERS };

typedef struct Sample { // the profile borrows its contents
    ProfileLayer layers[LAYERS];
    ProfileOp forward[LOSS]; // one op for each layer
    Profile profile;
} Sample;

// A step of 1 ms: forward 300 us, backward 480 us, Adam 200 us, 20 us between ops. One op takes 1
// us to dispatch, and half of the products' time is arithmetic at the peak.
void sample_new(Sample *sample);
void sample_took(ProfilePhase *phase, double seconds);
void sample_judged(ProfileLayer *layer, Bound bound, double fraction); // fraction of the roof
void sample_all_overhead(Sample *sample);

// The piece of advice whose text begins with `begin`; NULL: none. Valid until the next call.
const Advice *sample_find(const Sample *sample, const char *begin);

typedef struct AdviceWanted {
    const char *text, *check, *evidence; // evidence: a part of the text
    double seconds;                      // NaN expects NaN
    int64_t bytes;
    bool worth;
} AdviceWanted;
void advice_check(const Advice *advice, AdviceWanted wanted);

#endif
