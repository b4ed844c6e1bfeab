// ex08_values.h -- what a case of exercise 08 asks for: bits of "ask=", sent in this order. An
// input is "ask=7 events= p1=400 -1" or "ask=16 optimizer=2 model=Linear(4,2) @ 8x4".
#ifndef EXERCISES_COURSE_EX08_VALUES_H
#define EXERCISES_COURSE_EX08_VALUES_H

enum { MOST_EVENTS = 64 };

typedef enum MemoryValue {
    ASK_LIVE = 1,
    ASK_PEAK = 2,
    ASK_TOTAL = 4,
    ASK_AT_PEAK = 8, // five
    ASK_LEAKS = 16,  // blocks, bytes
    ASK_PARAMETERS = 32,
    ASK_GRADIENTS = 64,
    ASK_OPTIMIZER = 128,
    ASK_ACTIVATIONS = 256,
    ASK_SUM = 512,
} MemoryValue;

#endif
