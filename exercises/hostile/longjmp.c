// hostile: forbidden, crashed, crashed - jumps to where it never was
#include <setjmp.h>

#ifndef EXERCISE
#define EXERCISE count_flops
#endif

int EXERCISE(void) {
    static jmp_buf nowhere;
    longjmp(nowhere, 1);
}
