// ex09_expect.h -- internal to the cases of exercise 09: a question, and what is expected of it.
#ifndef EXERCISES_COURSE_EX09_EXPECT_H
#define EXERCISES_COURSE_EX09_EXPECT_H

#include "exercises/course/timed_case.h"

enum { EVERY_ROW = -1 };

typedef struct ForwardQuestion {
    TimedCase timed;
    int64_t peak, bandwidth; // MFLOP/s, MB/s
    const char *mistake;     // that a wrong bound of row `watched` is taken for, or NULL
    int watched;             // EVERY_ROW: of any
} ForwardQuestion;

// The values that `ask` (values.h) names, in their order, with what is known to go wrong.
void expect_forward(const ForwardQuestion *q, int ask, CaseRun *run);

#endif
