// explained.h -- reads the output of --explain as a suspicious reader would: lines unwrapped into
// blocks of labels and texts, and every equation among whole numbers computed again.
#ifndef TESTS_PROFILER_EXPLAIN_EXPLAINED_H
#define TESTS_PROFILER_EXPLAIN_EXPLAINED_H

#include "profiler/explain/explain.h"

typedef struct ExplainedLine {
    char label[20]; // "products"; "" for a line that continues
    char *text;     // unwrapped
} ExplainedLine;

typedef struct ExplainedBlock {
    char *title; // such as "forward: linear"
    ExplainedLine *lines;
    int n_lines;
} ExplainedBlock;

typedef struct Explained {
    char *printed; // the output as printed
    ExplainedBlock *blocks;
    int n_blocks;
} Explained;

// Explains, and asserts the rules for every explanation: 80 plain columns, no space at a line's
// end, and equations that hold. `*equations` (may be NULL) becomes the number of equations.
Explained explained_new(const Profile *profile, const char *pattern, int *equations);
void explained_free(Explained *explained);

const char *explained_text(const ExplainedBlock *block, const char *label); // NULL: none
const ExplainedBlock *explained_block(const Explained *explained,
                                      const char *title); // the start of a title
// The result of a line: the number after its last " = ", or its first; 0 if there is no line.
uint64_t explained_count(const ExplainedBlock *block, const char *label);

// Computes whole numbers that are added and multiplied, "64 x (2 x 1,000 - 1) + 50,176", modulo
// 2^64; false if the text is anything else.
bool explained_sum(const char *text, uint64_t *value);

// Profile of net_random(seed), three samples, judged by the ceilings in tests/fixtures/peaks.json.
Profile explained_profile(int seed, ProfileKind kind);

#endif
