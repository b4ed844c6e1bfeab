// hostile: crashed, crashed, crashed - a stack frame of half a gigabyte
#ifndef EXERCISE
#define EXERCISE count_flops
#endif

int EXERCISE(void) {
    volatile char frame[512 << 20];
    for (int i = 0; i < (512 << 20); i += 4096) frame[i] = 1;
    return frame[0] - 1;
}
