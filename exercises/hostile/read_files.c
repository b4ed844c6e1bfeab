// hostile: forbidden, wrong, wrong - reads files that are not its own
#include <stdio.h>

#ifndef EXERCISE
#define EXERCISE count_flops
#endif

int EXERCISE(void) {
    static const char *const paths[] = {"/etc/shadow", "/proc/1/environ"};
    for (int i = 0; i < 2; i++)
        if (fopen(paths[i], "r")) puts("LEAKED");
    return 0;
}
