// wrong_clock.h -- how clocks are misread: the wrong clock, the wrong part of its readings, the
// wrong unit. What exercises 05 to 07 expect of these mistakes is read from their virtual clock.
#ifndef EXERCISES_COURSE_WRONG_CLOCK_H
#define EXERCISES_COURSE_WRONG_CLOCK_H

#include "exercises/scene/virtual_time.h"

typedef enum Difference { // of two readings
    DIFFERENCE_RIGHT,
    DIFFERENCE_OF_SECONDS,
    DIFFERENCE_OF_NANOSECONDS,
    DIFFERENCE_ABSOLUTE,    // the nanoseconds without their sign
    DIFFERENCE_UNSIGNED,    // as an unsigned long
    DIFFERENCE_SECOND_KEPT, // a second given to negative nanoseconds, and not taken
    DIFFERENCE_SECOND_LOST, // taken, and not given
    DIFFERENCE_OF_DOUBLES,  // each reading in seconds
} Difference;

typedef struct WrongClock {
    const char *name; // of the mistake
    clockid_t id;
    Difference difference;
    double factor;
} WrongClock;

enum { WRONG_CLOCKS = 12 };
extern const WrongClock wrong_clocks[WRONG_CLOCKS];

// Seconds from one reading to the other, as that mistake has them.
double wrong_clock_between(const WrongClock *wrong, struct timespec start, struct timespec end);

#endif
