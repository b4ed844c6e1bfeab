// hostile: forbidden/out_of_memory/crashed, out_of_memory/crashed, out_of_memory/crashed - memory
#include <stdlib.h>

#ifndef EXERCISE
#define EXERCISE count_flops
#endif

int EXERCISE(void) {
    for (;;) {
        volatile char *block = malloc(1 << 20);
        for (int i = 0; i < 1 << 20; i += 1024) block[i] = 1;
    }
}
