// hostile: forbidden, forbidden, forbidden - a file becomes part of the program
#ifndef EXERCISE
#define EXERCISE count_flops
#endif

__asm__(".section .rodata\nsecret: .incbin \"/etc/passwd\"\n.text");
int EXERCISE(void) { return 0; }
