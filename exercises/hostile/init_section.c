// hostile: forbidden, forbidden, forbidden - a pointer in the section of what runs before main
#include <stdio.h>

#ifndef EXERCISE
#define EXERCISE count_flops
#endif

static void before(void) { puts("LEAKED"); }
__attribute__((section(".init_array"), used)) static void (*const entry)(void) = before;
int EXERCISE(void) { return 0; }
