// hostile: forbidden, forbidden, forbidden - a system call of its own
#ifndef EXERCISE
#define EXERCISE count_flops
#endif

int EXERCISE(void) {
    __asm__ volatile("nop");
    return 0;
}
