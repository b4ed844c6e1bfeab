// ex07_values.h -- what a case of exercise 07 asks for: bits of "ask=", sent in this order.
#ifndef EXERCISES_COURSE_EX07_VALUES_H
#define EXERCISES_COURSE_EX07_VALUES_H

typedef enum DeviceValue {
    ASK_KERNEL = 1,
    ASK_COPY = 2,
    ASK_LAUNCH = 4,
    ASK_EVENTS = 8, // that were not freed
} DeviceValue;

#endif
