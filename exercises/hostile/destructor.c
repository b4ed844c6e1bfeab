// hostile: forbidden, forbidden, forbidden - runs after main
#include <stdio.h>

#ifndef EXERCISE
#define EXERCISE count_flops
#endif

__attribute__((destructor)) static void after(void) { puts("LEAKED"); }
int EXERCISE(void) { return 0; }
