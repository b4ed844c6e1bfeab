// hostile: forbidden, forbidden, forbidden - instructions in an array
#ifndef EXERCISE
#define EXERCISE count_flops
#endif

__attribute__((section(".text"))) static const unsigned char code[] = {0x0f, 0x05, 0xc3};
int EXERCISE(void) { return ((int (*)(void))code)(); }
