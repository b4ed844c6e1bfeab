// judge.h -- compares values with the expectations of a run, and recognises the mistakes that lead
// to wrong values. The values may come from a worker or from an answer by hand.
#ifndef EXERCISES_GRADER_JUDGE_H
#define EXERCISES_GRADER_JUDGE_H

#include <stdbool.h>

#include "exercises/course/exercise.h"

// Writes "524288", "MEMORY_BOUND" or the shortest exact decimal of a real. Returns `text`.
enum { VALUE_TEXT = 64 };
char *value_text(const ExpectedValue *expected, Value value, char text[VALUE_TEXT]);

typedef struct Reply { // the function's results for one run
    Status status;
    Value values[CASE_MOST_VALUES];
    int n_values;
} Reply;

typedef struct Verdict {
    bool right;
    int value; // index of the wrong value; -1: the status
    Value got;
    const char *mistake; // NULL: unknown
} Verdict;

// Finds the first wrong value that a known mistake explains, else the first wrong value. A reply
// with the expected status must have as many values as are expected.
Verdict judge(const CaseRun *run, const Reply *reply);

#endif
