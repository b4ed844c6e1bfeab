// hostile: flooded, flooded, flooded - prints without end
#include <stdio.h>

#ifndef EXERCISE
#define EXERCISE count_flops
#endif

int EXERCISE(void) {
    for (;;) printf("and again ");
}
