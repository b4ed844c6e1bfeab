// hostile: forbidden, forbidden, crashed/wrong - fills a disk
#include <fcntl.h>
#include <unistd.h>

#ifndef EXERCISE
#define EXERCISE count_flops
#endif

int EXERCISE(void) {
    static const char bytes[1 << 16] = "full";
    int file = open("/tmp/hostile-disk", O_CREAT | O_WRONLY, 0600);
    while (file >= 0 && write(file, bytes, sizeof bytes) > 0) {
    }
    return 0;
}
