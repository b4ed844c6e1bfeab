// hostile: forbidden, forbidden, exited - standard output in place of the values
#include <unistd.h>

#ifndef EXERCISE
#define EXERCISE count_flops
#endif

int EXERCISE(void) {
    dup2(1, 3);
    return 0;
}
