// secret.c -- makes the course's secret: 32 random bytes in hexadecimal, in a file that only its
// owner can read. It is never replaced: with another one, every student gets other numbers.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "exercises/instructor/instructor.h"

enum { SECRET_BYTES = 32 };

int command_secret(const Orders *orders) {
    unsigned char bytes[SECRET_BYTES];
    char text[2 * SECRET_BYTES + 2];
    if (getrandom(bytes, sizeof bytes, 0) != SECRET_BYTES) {
        return instructor_refuse(INSTRUCTOR_FILE, "no random bytes: %s", strerror(errno));
    }
    for (int i = 0; i < SECRET_BYTES; i++) snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    strcpy(text + 2 * SECRET_BYTES, "\n");
    int file = open(orders->argument, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    if (file < 0) {
        return instructor_refuse(INSTRUCTOR_FILE, "%s: %s; a secret is never replaced",
                                 orders->argument, strerror(errno));
    }
    bool written = write(file, text, strlen(text)) == (ssize_t)strlen(text) && fsync(file) == 0;
    written = close(file) == 0 && written;
    if (!written) {
        unlink(orders->argument);
        return instructor_refuse(INSTRUCTOR_FILE, "%s: it could not be written", orders->argument);
    }
    printf("%s: made. Keep it: with another one, every student gets other numbers.\n",
           orders->argument);
    return INSTRUCTOR_DONE;
}
