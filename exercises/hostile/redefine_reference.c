// hostile: forbidden, forbidden, forbidden - its own right answer
#ifndef EXERCISE
#define EXERCISE count_flops
#endif

int profiler_count_flops(void) { return 0; }
int EXERCISE(void) { return 0; }
