// wrong_clock.c -- mistakes about clocks, by name, and the time that each gets from two readings.
#include "exercises/course/wrong_clock.h"

const WrongClock wrong_clocks[WRONG_CLOCKS] = {
    {"wall_clock", CLOCK_REALTIME, DIFFERENCE_RIGHT, 1.0},
    {"cpu_clock", CLOCK_PROCESS_CPUTIME_ID, DIFFERENCE_RIGHT, 1.0},
    {"seconds_only", CLOCK_MONOTONIC, DIFFERENCE_OF_SECONDS, 1.0},
    {"nanoseconds_only", CLOCK_MONOTONIC, DIFFERENCE_OF_NANOSECONDS, 1.0},
    {"nanoseconds_absolute", CLOCK_MONOTONIC, DIFFERENCE_ABSOLUTE, 1.0},
    {"nanoseconds_absolute", CLOCK_MONOTONIC, DIFFERENCE_UNSIGNED, 1.0},
    {"borrow_forgotten", CLOCK_MONOTONIC, DIFFERENCE_SECOND_KEPT, 1.0},
    {"borrow_forgotten", CLOCK_MONOTONIC, DIFFERENCE_SECOND_LOST, 1.0},
    {"readings_as_doubles", CLOCK_MONOTONIC, DIFFERENCE_OF_DOUBLES, 1.0},
    {"milliseconds_for_seconds", CLOCK_MONOTONIC, DIFFERENCE_RIGHT, 1e3},
    {"microseconds_for_seconds", CLOCK_MONOTONIC, DIFFERENCE_RIGHT, 1e6},
    {"nanoseconds_for_seconds", CLOCK_MONOTONIC, DIFFERENCE_RIGHT, 1e9},
};

static double in_seconds(struct timespec t) { return (double)t.tv_sec + (double)t.tv_nsec * 1e-9; }

static double difference_of(Difference how, struct timespec start, struct timespec end) {
    long rest = end.tv_nsec - start.tv_nsec;
    double seconds = (double)(end.tv_sec - start.tv_sec), right = seconds + (double)rest * 1e-9;
    switch (how) {
    case DIFFERENCE_OF_SECONDS:
        return seconds;
    case DIFFERENCE_OF_NANOSECONDS:
        return (double)rest * 1e-9;
    case DIFFERENCE_ABSOLUTE:
        return seconds + (double)(rest < 0 ? -rest : rest) * 1e-9;
    case DIFFERENCE_UNSIGNED:
        return seconds + (double)(unsigned long)rest * 1e-9;
    case DIFFERENCE_SECOND_KEPT:
        return rest < 0 ? right + 1.0 : right;
    case DIFFERENCE_SECOND_LOST:
        return rest < 0 ? right - 1.0 : right;
    case DIFFERENCE_OF_DOUBLES:
        return in_seconds(end) - in_seconds(start);
    case DIFFERENCE_RIGHT:
        break;
    }
    return right;
}

double wrong_clock_between(const WrongClock *wrong, struct timespec start, struct timespec end) {
    return wrong->factor * difference_of(wrong->difference, start, end);
}
