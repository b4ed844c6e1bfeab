// hostile: forbidden, timed_out, timed_out - sleeps for a day
#include <unistd.h>

#ifndef EXERCISE
#define EXERCISE count_flops
#endif

int EXERCISE(void) {
    for (;;) sleep(86400);
}
