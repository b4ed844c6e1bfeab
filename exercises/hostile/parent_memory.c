// hostile: forbidden, forbidden, wrong - looks for the answers in the memory above
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#ifndef EXERCISE
#define EXERCISE count_flops
#endif

int EXERCISE(void) {
    char path[64], byte;
    snprintf(path, sizeof path, "/proc/%d/mem", (int)getppid());
    int file = open(path, O_RDONLY);
    if (file >= 0 && pread(file, &byte, 1, 0x400000) >= 0) puts("LEAKED");
    return 0;
}
