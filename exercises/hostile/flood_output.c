// hostile: forbidden, flooded, flooded - floods standard output
#include <unistd.h>

#ifndef EXERCISE
#define EXERCISE count_flops
#endif

int EXERCISE(void) {
    static const char bytes[1 << 16] = "flood";
    for (;;)
        if (write(1, bytes, sizeof bytes) < 0) return 1;
}
