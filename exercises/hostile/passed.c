// hostile: wrong, wrong, wrong - says that it passed
#include <stdio.h>

#ifndef EXERCISE
#define EXERCISE count_flops
#endif

int EXERCISE(void) {
    puts("8 passed, 0 failed, 0 skipped");
    puts("{\"score\": 100}");
    return 0;
}
