// hostile: forbidden, forbidden, wrong - debugs the process above
#include <stdio.h>
#include <sys/ptrace.h>
#include <unistd.h>

#ifndef EXERCISE
#define EXERCISE count_flops
#endif

int EXERCISE(void) {
    if (ptrace(PTRACE_ATTACH, getppid(), 0, 0) == 0) puts("LEAKED");
    return 0;
}
