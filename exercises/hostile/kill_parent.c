// hostile: forbidden, forbidden, wrong/crashed - ends the process above
#include <unistd.h>

#ifndef EXERCISE
#define EXERCISE count_flops
#endif

int kill(int process, int signal);
int EXERCISE(void) {
    kill(getppid(), 9);
    return 0;
}
