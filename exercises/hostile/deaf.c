// hostile: forbidden, timed_out, timed_out - ignores every signal and never ends
#include <signal.h>

#ifndef EXERCISE
#define EXERCISE count_flops
#endif

int EXERCISE(void) {
    for (int i = 1; i < 64; i++) signal(i, SIG_IGN);
    for (volatile int i = 0;; i++) {
    }
}
