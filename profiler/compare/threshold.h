// threshold.h -- limits that a profile is held to, by itself or beside a base. A limit holds where
// the whole interval of a time is within it, and is broken where all of it is beyond; else it
// cannot be told. Not here: files for a CI (files/exports.h).
//
//     ThresholdList list = {0};
//     threshold_parse("latency:10ms,flops:+0%,layer:fc*:+5%", &list);
//     threshold_judge(&list, &(ThresholdSides){.now = &profile});
//     return threshold_count(&list, THRESHOLD_BROKEN);
#ifndef PROFILER_COMPARE_THRESHOLD_H
#define PROFILER_COMPARE_THRESHOLD_H

#include "profiler/compare/profile_diff.h"

typedef struct ThresholdKey ThresholdKey; // what may be limited: threshold.c's table

typedef enum ThresholdVerdict {
    THRESHOLD_HOLDS,  // for sure; of a pattern of layers beside a base: no layer is seen beyond it
    THRESHOLD_BROKEN, // for sure
    THRESHOLD_UNDECIDED, // more runs may tell
    THRESHOLD_UNKNOWN,   // it lacks what it takes: samples, a base, a layer of that name
} ThresholdVerdict;

const char *threshold_verdict_name(ThresholdVerdict verdict); // "broken"

typedef struct Threshold {
    char text[80]; // as typed: "layer:fc*:+5%"
    const ThresholdKey *key;
    char layer[48]; // the pattern of paths; "": of the whole
    char unit[16];  // that a rate names: "samples"; "": none
    bool relative;  // to the base
    double limit;   // seconds, bytes, a count, a rate; relative: a share, 0.05
    ThresholdVerdict verdict;
    double seen;     // so small a change would have been told: 0.04 is 4 %; 0: any, NaN: none
    char found[160]; // "1.19 ms (1.18-1.20 ms of 5 runs)", or what it lacks
} Threshold;

enum { THRESHOLD_MOST = 32 };
typedef struct ThresholdList {
    Threshold at[THRESHOLD_MOST];
    int n;
} ThresholdList;

// Adds those of a text, commas between. STATUS_INVALID_ARGUMENT, naming the part: an unknown key or
// unit, a limit of the other kind, too many.
Status threshold_parse(const char *text, ThresholdList *list);
bool threshold_is_percentile(
    const Threshold *threshold); // of single steps: of a profile that has them
bool threshold_needs_times(const ThresholdList *list); // any of them
// Keys and what they are of, for a help page; NULL behind the last.
const char *threshold_key(int i, const char **what);

typedef struct ThresholdSides {
    const Profile *now, *base; // base and diff: where some are relative
    const ProfileDiff *diff;
    bool untimed; // times of the two are not compared
} ThresholdSides;
// Fills verdict, seen and found of each. STATUS_OUT_OF_MEMORY.
Status threshold_judge(ThresholdList *list, const ThresholdSides *sides);
int threshold_count(const ThresholdList *list, ThresholdVerdict verdict); // that have it
// The section THRESHOLDS: 80 columns.
void threshold_print(const ThresholdList *list, FILE *file);

#endif
