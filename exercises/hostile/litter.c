// hostile: forbidden, forbidden, wrong - leaves files behind
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef EXERCISE
#define EXERCISE count_flops
#endif

int EXERCISE(void) {
    static const char *const paths[] = {"/tmp/hostile-a", "/var/tmp/hostile-b",
                                        "/dev/shm/hostile-c"};
    for (int i = 0; i < 3; i++) close(open(paths[i], O_CREAT | O_WRONLY, 0600));
    mkdir("/tmp/hostile-folder", 0700);
    return 0;
}
