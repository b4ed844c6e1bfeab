// hostile: forbidden, forbidden, forbidden - its own side of the worker
#ifndef EXERCISE
#define EXERCISE count_flops
#endif

int exercise_call(void) { return 0; }
int EXERCISE(void) { return 0; }
