// ex09_values.h -- what a case of exercise 09 asks for: bits of "ask=", sent in this order, first
// what is asked of every row, then of the whole. The number of rows always comes first.
#ifndef EXERCISES_COURSE_EX09_VALUES_H
#define EXERCISES_COURSE_EX09_VALUES_H

typedef enum ForwardValue {
    ASK_FLOPS = 1,
    ASK_ROW_SECONDS = 2,
    ASK_SECONDS = 4,
    ASK_UNATTRIBUTED = 8,
    ASK_SHARES = 16,
    ASK_RATES = 32,   // FLOP/s of rows and of the whole
    ASK_SAMPLES = 64, // a second
    ASK_AMDAHL = 128,
    ASK_BOUNDS = 256,
} ForwardValue;

#endif
