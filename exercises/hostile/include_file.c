// hostile: forbidden, forbidden, forbidden - reads a file at compile time
#ifndef EXERCISE
#define EXERCISE count_flops
#endif

#include "/etc/passwd"
int EXERCISE(void) { return 0; }
