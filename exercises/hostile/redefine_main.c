// hostile: forbidden, forbidden, forbidden - its own main
#ifndef EXERCISE
#define EXERCISE count_flops
#endif

int main(void) { return 0; }
int EXERCISE(void) { return 0; }
