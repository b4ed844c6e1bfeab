// ex10_values.h -- what a case of exercise 10 asks for: bits of "ask=", sent in this order.
#ifndef EXERCISES_COURSE_EX10_VALUES_H
#define EXERCISES_COURSE_EX10_VALUES_H

typedef enum BackwardValue {
    ASK_FLOPS = 1,   // forward, weight gradient, input gradient, backward
    ASK_SECONDS = 2, // forward, backward, optimizer
    ASK_RATIO = 4,
    ASK_STEP = 8, // seconds of the step, the optimizer's share
} BackwardValue;

#endif
