// hostile: forbidden, forbidden, forbidden - reads what the compiler was told, at compile time
#ifndef EXERCISE
#define EXERCISE count_flops
#endif

#include "/proc/self/cmdline"
int EXERCISE(void) { return 0; }
