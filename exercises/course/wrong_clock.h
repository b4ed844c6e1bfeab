// wrong_clock.h -- ways to misread a clock: the wrong clock, the wrong part of its readings, the
// wrong unit. The wrong values in exercises 05 to 07 come from readings of their virtual clock.
#ifndef EXERCISES_COURSE_WRONG_CLOCK_H
#define EXERCISES_COURSE_WRONG_CLOCK_H

#include "exercises/scene/virtual_time.h"

typedef enum Difference { // ways to subtract two readings
    DIFFERENCE_RIGHT,
    DIFFERENCE_OF_SECONDS,
    DIFFERENCE_OF_NANOSECONDS,
    DIFFERENCE_ABSOLUTE,    // the nanoseconds without their sign
    DIFFERENCE_UNSIGNED,    // the nanoseconds as an unsigned long
    DIFFERENCE_SECOND_KEPT, // a second is added to negative nanoseconds, and not subtracted
    DIFFERENCE_SECOND_LOST, // a second is subtracted, and not added to the nanoseconds
    DIFFERENCE_OF_DOUBLES,  // each reading becomes a double in seconds first
} Difference;

typedef struct WrongClock {
    const char *name; // name of the mistake
    clockid_t id;
    Difference difference;
    double factor;
} WrongClock;

enum { WRONG_CLOCKS = 12 };
extern const WrongClock wrong_clocks[WRONG_CLOCKS];

// The seconds between two readings, as the mistake `wrong` computes them.
double wrong_clock_between(const WrongClock *wrong, struct timespec start, struct timespec end);

#endif
