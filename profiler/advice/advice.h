// advice.h -- advice ranked by predicted seconds or bytes; each piece cites the measured numbers
// behind it and the flag that checks it. Changes that are not worth it are listed as well.
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
    char apply[32];     // flags that apply it; "": none can, or `check` only shows where to look
    char assumes[72];   // assumption of the prediction: "a product takes no longer"
    // Range of the predicted relative change of units/s: 0.11 for +11 %. It covers what the profile
    // cannot know. NaN: no prediction.
    double gain_low, gain_high;
    // Predicted seconds saved per step of this batch, the lower end if the text gives a range; at
    // most the measured time of the part that changes. NaN: the advice is not about time.
    double seconds;
    int64_t bytes; // saved at the peak; negative: needs more; 0: not about memory
    bool worth;    // false: considered, but not worth it
} Advice;

// Fills at most ADVICE_MOST pieces, those worth it first, by most seconds, then most bytes; returns
// their number, 0 if nothing was measured. A pure function of the profile: nothing is run.
int advice_find(const Profile *profile, Advice advice[ADVICE_MOST]);

// Prints the report's section WHAT WOULD HELP: 80 columns, at most four lines; nothing if no advice
// was found.
void advice_print(const Profile *profile, FILE *file);

RIDGEPOINT_API_END

#endif
