// diff_print.h -- prints the differences between two profiles: a sentence, a table of layers, a
// table of counts. Not here: finding them (profile_diff.h).
#ifndef PROFILER_COMPARE_DIFF_PRINT_H
#define PROFILER_COMPARE_DIFF_PRINT_H

#include "profiler/compare/profile_diff.h"

typedef struct DiffStory {   // texts around the figures
    const char *with, *base; // "with " or ""; the name after "than": "base.json", "--fuse"
    const char *untimed;     // reason for not comparing times; NULL: they are compared
    const char *build;       // "the compiler was A, and is B"; "": same build
    const char *unit;        // unit of work, "samples"
} DiffStory;

// Both functions sort diff->times: certain changes first, by seconds.
// The summary: "2.1% faster (1.4 to 2.8) than base.json, in relu1 forward".
enum { DIFF_SENTENCE = 600 };
void diff_sentence(ProfileDiff *diff, const DiffStory *story, char text[DIFF_SENTENCE]);
// Prints the summary, the reason for not comparing times, and the tables, in 80 columns.
void diff_print(ProfileDiff *diff, const DiffStory *story, FILE *file);

#endif
