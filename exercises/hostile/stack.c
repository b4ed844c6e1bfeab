// hostile: crashed, crashed, crashed - calls itself without end
#ifndef EXERCISE
#define EXERCISE count_flops
#endif

int EXERCISE(void);
static int (*volatile again)(void) = EXERCISE;

int EXERCISE(void) {
    volatile char frame[1024];
    frame[0] = 1;
    return again() + frame[0];
}
