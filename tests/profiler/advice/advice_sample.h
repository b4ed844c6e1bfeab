// advice_sample.h -- a profile made by hand, with advice to be had, and what checks a piece of it.
#ifndef TESTS_PROFILER_ADVICE_ADVICE_SAMPLE_H
#define TESTS_PROFILER_ADVICE_ADVICE_SAMPLE_H

#include <math.h>

#include "profiler/advice/advice.h"
#include "tests/helpers/harness.h"

enum { FC1, RELU1, FC2, RELU2, FC3, LOSS, UPDATE, LAYERS };

typedef struct Sample { // what it holds is borrowed by the profile
    ProfileLayer layers[LAYERS];
    ProfileOp forward[LOSS]; // each layer's
    Profile profile;
} Sample;

// A step of 1 ms: forward 300 us, backward 480 us, Adam 200 us, 20 us between ops; one op takes
// 1 us to dispatch, and half of what products take is arithmetic at the peak.
void sample_new(Sample *sample);
void sample_took(ProfilePhase *phase, double seconds);
void sample_judged(ProfileLayer *layer, Bound bound, double fraction); // of the roof
void sample_all_overhead(Sample *sample);

// The piece whose text begins so; NULL: none does. Valid until the next call.
const Advice *sample_find(const Sample *sample, const char *begin);

typedef struct AdviceWanted {
    const char *text, *check, *evidence; // a part of the evidence
    double seconds;                      // NaN: NaN
    int64_t bytes;
    bool worth;
} AdviceWanted;
void advice_check(const Advice *advice, AdviceWanted wanted);

#endif
