// threshold.h -- limits for a profile, absolute or relative to a base. A limit holds if the whole
// interval of a time is within it, and is broken if the whole interval is beyond it; else it is
// undecided. Not here: files for a CI (files/exports.h).
//
//     ThresholdList list = {0};
//     threshold_parse("latency:10ms,flops:+0%,layer:fc*:+5%", &list);
//     threshold_judge(&list, &(ThresholdSides){.now = &profile});
//     return threshold_count(&list, THRESHOLD_BROKEN);
#ifndef PROFILER_COMPARE_THRESHOLD_H
#define PROFILER_COMPARE_THRESHOLD_H

#include "profiler/compare/profile_diff.h"

typedef struct ThresholdKey ThresholdKey; // a row of threshold.c's table

typedef enum ThresholdVerdict {
    THRESHOLD_HOLDS,     // surely; for layers beside a base: no layer is seen beyond the limit
    THRESHOLD_BROKEN,    // surely
    THRESHOLD_UNDECIDED, // more runs may decide
    THRESHOLD_UNKNOWN,   // data is missing: samples, a base, a layer of that name
} ThresholdVerdict;

const char *threshold_verdict_name(ThresholdVerdict verdict); // "broken"

typedef struct Threshold {
    char text[80]; // as typed: "layer:fc*:+5%"
    const ThresholdKey *key;
    char layer[48]; // pattern of layer paths; "": the whole step
    char unit[16];  // unit named with a rate: "samples"; "": none
    bool relative;  // to the base
    double limit;   // seconds, bytes, a count, a rate; if relative, a share: 0.05
    ThresholdVerdict verdict;
    double seen;     // smallest detectable change: 0.04 is 4 %; 0: any, NaN: none
    char found[160]; // "1.19 ms (1.18-1.20 ms of 5 runs)", or which data is missing
} Threshold;

enum { THRESHOLD_MOST = 32 };
typedef struct ThresholdList {
    Threshold at[THRESHOLD_MOST];
    int n;
} ThresholdList;

// Adds the comma-separated limits of a text. STATUS_INVALID_ARGUMENT, naming the part, for an
// unknown key or unit, a limit of the other kind, or too many limits.
Status threshold_parse(const char *text, ThresholdList *list);
bool threshold_is_percentile(
    const Threshold *threshold);                       // needs a profile with single steps' times
bool threshold_needs_times(const ThresholdList *list); // any of its limits does
// The i-th key and its description, for a help page; NULL past the last.
const char *threshold_key(int i, const char **what);

typedef struct ThresholdSides {
    const Profile *now, *base; // base and diff: only for relative limits
    const ProfileDiff *diff;
    bool untimed; // times of now and base are not compared
} ThresholdSides;
// Fills verdict, seen and found of each limit. May return STATUS_OUT_OF_MEMORY.
Status threshold_judge(ThresholdList *list, const ThresholdSides *sides);
int threshold_count(const ThresholdList *list, ThresholdVerdict verdict); // with that verdict
// Prints the section THRESHOLDS, in 80 columns.
void threshold_print(const ThresholdList *list, FILE *file);

#endif
