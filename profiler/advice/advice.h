// advice.h -- what would help, ranked by predicted seconds or bytes; each piece cites the measured
// numbers that it stands on and the flag that checks it. What is not worth it is said as well.
#ifndef PROFILER_ADVICE_ADVICE_H
#define PROFILER_ADVICE_ADVICE_H

#include <stdio.h>

#include "profiler/measure/profile.h"

RIDGEPOINT_API_BEGIN

enum { ADVICE_MOST = 8 };

typedef struct Advice {
    char text[112];     // "larger batch: +11-23% samples/s, +1.79 MB"
    char check[64];     // the flags that check it: "--batch 256"
    char evidence[200]; // the measured numbers and the arithmetic, for JSON and --explain
    char apply[32];     // flags that do it; "": none can, or `check` is only where to look
    char assumes[72];   // what the prediction takes for granted: "a product takes no longer"
    // The change of units/s that is predicted, from one to the other: 0.11 for +11 %. The range is
    // of what the profile cannot know. NaN: none is.
    double gain_low, gain_high;
    // Predicted to be saved per step of this batch's samples, at least, where the text gives a
    // range; never more than what it changes was measured to take. NaN: it is not about time.
    double seconds;
    int64_t bytes; // saved at the peak; negative: it takes more; 0: it is not about memory
    bool worth;    // false: looked at, and not worth it
} Advice;

// Fills at most ADVICE_MOST pieces, worth first, most seconds first, then most bytes; returns how
// many. A pure function of the profile: nothing is run. 0 where nothing was measured.
int advice_find(const Profile *profile, Advice advice[ADVICE_MOST]);

// The section WHAT WOULD HELP of the report: 80 columns, at most four lines; nothing at all where
// nothing was found.
void advice_print(const Profile *profile, FILE *file);

RIDGEPOINT_API_END

#endif
