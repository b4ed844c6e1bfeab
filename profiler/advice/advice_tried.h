// advice_tried.h -- advice that was tried: predicted against measured, and where they part, on what
// the prediction stood. Not here: trying it (program/program_try.c).
#ifndef PROFILER_ADVICE_ADVICE_TRIED_H
#define PROFILER_ADVICE_ADVICE_TRIED_H

#include "profiler/advice/advice.h"
#include "profiler/compare/profile_diff.h"

typedef struct Tried {
    Advice advice;            // that flags can apply
    LatencyStatistics ratio;  // of units/s, with it / without, run by run
    RunFigures without, with; // of the last run
} Tried;

typedef struct Trials {
    Tried tried[ADVICE_MOST];
    int n;
} Trials;

// Does the measured gain's interval across runs overlap the predicted range?
bool tried_as_predicted(const Tried *tried);

// The section TRIED: 80 columns; two lines more for each that went otherwise. `unit`: what a rate
// counts, "samples".
void tried_print(const Trials *trials, const char *unit, FILE *file);

#endif
