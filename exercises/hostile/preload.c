// hostile: forbidden, forbidden, exited - starts itself again with a library of its own
#include <unistd.h>

#ifndef EXERCISE
#define EXERCISE count_flops
#endif

int setenv(const char *name, const char *value, int replace);
int EXERCISE(void) {
    setenv("LD_PRELOAD", "/tmp/hostile-library.so", 1);
    execl("/proc/self/exe", "worker", (char *)0);
    execl("/bin/true", "true", (char *)0);
    return 0;
}
