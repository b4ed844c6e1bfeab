// hostile: forbidden, forbidden, wrong - leaves a process behind
#include <unistd.h>

#ifndef EXERCISE
#define EXERCISE count_flops
#endif

int setsid(void);
int EXERCISE(void) {
    if (fork() == 0) {
        setsid();
        if (fork() == 0) sleep(1000);
        _exit(0);
    }
    return 0;
}
