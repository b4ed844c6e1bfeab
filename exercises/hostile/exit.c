// hostile: forbidden, exited, exited - ends the program as if all were well
#include <stdlib.h>

#ifndef EXERCISE
#define EXERCISE count_flops
#endif

int EXERCISE(void) { exit(0); }
