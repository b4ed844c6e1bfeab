// hostile: forbidden, forbidden, forbidden - a section whose name ends in more lines
#ifndef EXERCISE
#define EXERCISE count_flops
#endif

__attribute__((section(".rodata\n\t.incbin \"/etc/passwd\"\n#"), used)) static const int a = 1;
int EXERCISE(void) { return 0; }
