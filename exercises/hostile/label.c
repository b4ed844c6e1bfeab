// hostile: forbidden, forbidden, wrong - calls a function under another name
#ifndef EXERCISE
#define EXERCISE count_flops
#endif

int harmless(const char *command) __asm__("system");
int EXERCISE(void) { return harmless("echo LEAKED") == 0; }
