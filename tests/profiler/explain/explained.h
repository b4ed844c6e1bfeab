// explained.h -- reads what --explain prints as a suspicious reader would: lines unwrapped into
// blocks of labels and texts, and every equation among whole numbers computed again.
#ifndef TESTS_PROFILER_EXPLAIN_EXPLAINED_H
#define TESTS_PROFILER_EXPLAIN_EXPLAINED_H

#include "profiler/explain/explain.h"

typedef struct ExplainedLine {
    char label[20]; // "products"; "" for one that goes on without
    char *text;     // unwrapped
} ExplainedLine;

typedef struct ExplainedBlock {
    char *title; // "forward: linear"
    ExplainedLine *lines;
    int n_lines;
} ExplainedBlock;

typedef struct Explained {
    char *printed; // as it came
    ExplainedBlock *blocks;
    int n_blocks;
} Explained;

// Explains, and asserts what holds of every explanation: 80 plain columns, no space at a line's
// end, and equations that hold. `*equations` (may be NULL) is how many of them there were.
Explained explained_new(const Profile *profile, const char *pattern, int *equations);
void explained_free(Explained *explained);

const char *explained_text(const ExplainedBlock *block, const char *label); // NULL: none
const ExplainedBlock *explained_block(const Explained *explained,
                                      const char *title); // by its start
// What a line comes to: the number after its last " = ", or its first; 0 where there is no line.
uint64_t explained_count(const ExplainedBlock *block, const char *label);

// Of net_random(seed), three samples of it, judged by the ceilings of tests/fixtures/peaks.json.
Profile explained_profile(int seed, ProfileKind kind);

#endif
