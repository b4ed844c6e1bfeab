// hostile: crashed, crashed, crashed - writes to address 0
#ifndef EXERCISE
#define EXERCISE count_flops
#endif

int EXERCISE(void) {
    *(volatile int *)0 = 1;
    return 0;
}
