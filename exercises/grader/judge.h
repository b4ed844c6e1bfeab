// judge.h -- compares values with what a run expects, and recognises the mistakes that lead to
// wrong ones. Where the values come from is not its business (a worker, or an answer by hand).
#ifndef EXERCISES_GRADER_JUDGE_H
#define EXERCISES_GRADER_JUDGE_H

#include <stdbool.h>

#include "exercises/course/exercise.h"

// "524288", the shortest decimal that reads back as the same real, "MEMORY_BOUND". Returns `text`.
enum { VALUE_TEXT = 64 };
char *value_text(const ExpectedValue *expected, Value value, char text[VALUE_TEXT]);

typedef struct Reply { // of the function, for one run
    Status status;
    Value values[CASE_MOST_VALUES];
    int n_values;
} Reply;

typedef struct Verdict {
    bool right;
    int value; // which one is wrong; -1: the status
    Value got;
    const char *mistake; // NULL: unknown
} Verdict;

// The first wrong value that a known mistake explains, else the first wrong value. The reply has
// as many values as are expected, where its status is the expected one.
Verdict judge(const CaseRun *run, const Reply *reply);

#endif
