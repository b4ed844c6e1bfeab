// hostile: forbidden, forbidden, forbidden - runs before main
#include <stdio.h>

#ifndef EXERCISE
#define EXERCISE count_flops
#endif

__attribute__((constructor)) static void before(void) { puts("LEAKED"); }
int EXERCISE(void) { return 0; }
