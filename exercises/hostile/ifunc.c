// hostile: forbidden, forbidden, forbidden - a function that is chosen while the program is loaded
#ifndef EXERCISE
#define EXERCISE count_flops
#endif

static int one(void) { return 0; }
static int (*choose(void))(void) { return one; }
int chosen(void) __attribute__((ifunc("choose")));
int EXERCISE(void) { return chosen(); }
