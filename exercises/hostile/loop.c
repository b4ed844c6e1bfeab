// hostile: timed_out, timed_out, timed_out - never ends
#ifndef EXERCISE
#define EXERCISE count_flops
#endif

int EXERCISE(void) {
    for (volatile int i = 0;; i++) {
    }
}
