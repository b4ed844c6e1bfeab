// ex10_expect.h -- internal to the cases of exercise 10: a question, and what is expected of it.
#ifndef EXERCISES_COURSE_EX10_EXPECT_H
#define EXERCISES_COURSE_EX10_EXPECT_H

#include "exercises/course/timed_case.h"

typedef enum StepPart { ZEROING, FORWARD, LOSS, BACKWARD, OPTIMIZER, PARTS } StepPart;

typedef struct BackwardQuestion {
    TimedCase timed;
    int64_t forward, weight, input; // FLOPs of products, of the batch: 2 per multiply-add
    int64_t activations;            // what the textbook counts besides
    int64_t without_freezing;       // of input gradients, were nothing frozen
    double forward_seconds, backward_seconds, optimizer_seconds, loss_seconds, zero_seconds;
    StepPart event_in; // that it falls into
} BackwardQuestion;

// The values that `ask` (values.h) names, in their order, with what is known to go wrong.
void expect_backward(const BackwardQuestion *q, int ask, CaseRun *run);

#endif
