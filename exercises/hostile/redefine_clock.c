// hostile: forbidden, forbidden, forbidden - its own clock
#ifndef EXERCISE
#define EXERCISE count_flops
#endif

int clock_gettime(int clock, long *time) {
    time[0] = time[1] = clock;
    return 0;
}
int EXERCISE(void) { return 0; }
