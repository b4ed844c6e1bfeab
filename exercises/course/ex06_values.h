// ex06_values.h -- what a case of exercise 06 asks for: bits of "ask=", sent in this order.
#ifndef EXERCISES_COURSE_EX06_VALUES_H
#define EXERCISES_COURSE_EX06_VALUES_H

typedef enum LatencyValue {
    ASK_N = 1,
    ASK_CALLS = 2, // how often run was called
    ASK_MEDIAN = 4,
    ASK_MEAN = 8,
    ASK_MIN = 16,
    ASK_MAX = 32,
    ASK_IQR = 64,
    ASK_P95 = 128,
    ASK_ALLOCATES = 256, // 1: between the first and the last sample, else 0
    ASK_LEAKS = 512,     // blocks that were not given back
} LatencyValue;

#endif
