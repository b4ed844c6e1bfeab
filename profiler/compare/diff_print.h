// diff_print.h -- what differs between two profiles, for people: a sentence, then which layers,
// then which counts. Not here: what differs (profile_diff.h).
#ifndef PROFILER_COMPARE_DIFF_PRINT_H
#define PROFILER_COMPARE_DIFF_PRINT_H

#include "profiler/compare/profile_diff.h"

typedef struct DiffStory {   // what is told around the figures
    const char *with, *base; // "with " or ""; "base.json", "--fuse": behind "than"
    const char *untimed;     // why times are not compared; NULL: they are
    const char *build;       // "the compiler was A, and is B"; "": the same
    const char *unit;        // of work, "samples"
} DiffStory;

// Both sort diff->times: those that are sure first, by seconds.
// What says it all: "2.1% faster (1.4 to 2.8) than base.json, in relu1 forward".
enum { DIFF_SENTENCE = 600 };
void diff_sentence(ProfileDiff *diff, const DiffStory *story, char text[DIFF_SENTENCE]);
// That, why times are not compared, and tables; in 80 columns.
void diff_print(ProfileDiff *diff, const DiffStory *story, FILE *file);

#endif
