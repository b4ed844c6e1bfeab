// advice.h -- what would help, ranked by predicted seconds or bytes; each piece cites the measured
// number that it stands on and the flag that checks it. What is not worth it is said as well.
#ifndef PROFILER_ADVICE_H
#define PROFILER_ADVICE_H

#include <stdio.h>

#include "profiler/profile.h"

enum { ADVICE_MOST = 8 };

typedef struct Advice {
    char text[112];     // "larger batch: +27% samples/s (Adam, 93 us, is shared)"
    char check[64];     // the flags that check it: "--batch 256"
    char evidence[200]; // the measured numbers and the arithmetic, for JSON and --explain
    double seconds;     // saved per step of this batch's samples (NaN: it is not about time)
    int64_t bytes;      // saved at the peak (0: it is not about memory)
    bool worth;         // false: looked at, and not worth it
} Advice;

// Fills at most ADVICE_MOST pieces, worth first, most seconds first, then most bytes; returns how
// many. A pure function of the profile: nothing is run. 0 where nothing was measured.
int advice_find(const Profile *profile, Advice advice[ADVICE_MOST]);

// The section WHAT WOULD HELP of the report: 80 columns, at most four lines.
void advice_print(const Profile *profile, FILE *file);

#endif
