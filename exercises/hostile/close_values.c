// hostile: forbidden, exited, exited - closes the descriptor of the values
#include <unistd.h>

#ifndef EXERCISE
#define EXERCISE count_flops
#endif

int EXERCISE(void) {
    close(3);
    return 0;
}
