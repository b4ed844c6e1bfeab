// hostile: forbidden, forbidden, timed_out - forks without end
#include <unistd.h>

#ifndef EXERCISE
#define EXERCISE count_flops
#endif

int EXERCISE(void) {
    for (;;) fork();
}
