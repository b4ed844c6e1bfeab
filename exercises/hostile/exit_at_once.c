// hostile: forbidden, exited, exited - the same without the C library's goodbye
#include <unistd.h>

#ifndef EXERCISE
#define EXERCISE count_flops
#endif

int EXERCISE(void) { _exit(0); }
