// hostile: forbidden, forbidden, forbidden - its own malloc
#ifndef EXERCISE
#define EXERCISE count_flops
#endif

static char memory[1 << 16];
void *malloc(unsigned long size) { return size < sizeof memory ? memory : 0; }
int EXERCISE(void) { return malloc(1) == 0; }
