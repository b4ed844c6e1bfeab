// advice_tried.h -- advice that was tried: predicted against measured gain, and the prediction's
// assumption if they disagree. Not here: trying it (program/program_try.c).
#ifndef PROFILER_ADVICE_ADVICE_TRIED_H
#define PROFILER_ADVICE_ADVICE_TRIED_H

#include "profiler/advice/advice.h"
#include "profiler/compare/profile_diff.h"

typedef struct Tried {
    Advice advice;            // with flags that apply it
    LatencyStatistics ratio;  // units/s with it / without it, run by run
    RunFigures without, with; // figures of the last run
} Tried;

typedef struct Trials {
    Tried tried[ADVICE_MOST];
    int n;
} Trials;

// True if the measured gain's interval across runs overlaps the predicted range.
bool tried_as_predicted(const Tried *tried);

// Prints the section TRIED: 80 columns; two more lines for each wrong prediction. `unit`: the unit
// of rates, "samples".
void tried_print(const Trials *trials, const char *unit, FILE *file);

#endif
