// input_file.c -- reads a file of unknown size, such as a shell's pipe.
#include "profiler/base/input_file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "tensor/memory.h"

// Waits for data only for a limited time: a FIFO without a writer never has any.
static ssize_t read_some(int file, char *bytes, size_t most) {
    struct pollfd waiting = {.fd = file, .events = POLLIN};
    int ready = poll(&waiting, 1, 1000 * INPUT_FILE_PATIENCE);
    if (ready == 0) errno = ETIMEDOUT;
    return ready > 0 ? read(file, bytes, most) : -1;
}

static char *read_all(int file, const char *path, size_t most, size_t *used) {
    size_t size = 1 << 16;
    char *text = memory_new(size);
    ssize_t got = 1;
    for (*used = 0; text && got > 0 && *used <= most; *used += got > 0 ? (size_t)got : 0) {
        if (*used + 1 == size) { // full, except for the NUL
            char *larger = memory_resize(text, size, 2 * size);
            if (!larger) break; // an error is pending
            text = larger;
            size *= 2;
        }
        got = read_some(file, text + *used, size - 1 - *used);
    }
    if (got < 0)
        error_set(STATUS_IO, "%s: %s", path,
                  errno == ETIMEDOUT ? "nothing came for ten seconds" : strerror(errno));
    if (text) text[*used] = '\0';
    return text;
}

char *input_file_read(const char *path, size_t most, size_t *size) {
    int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) {
        error_set(STATUS_IO, "%s: %s", path, strerror(errno));
        return NULL;
    }
    char *text = read_all(file, path, most, size);
    close(file);
    if (text && !error_pending() && *size > most)
        error_set(STATUS_FORMAT,
                  "%s: larger than any such file, which has at most %zu bytes. HINT: is it "
                  "another file's name?",
                  path, most);
    if (!error_pending()) return text;
    memory_free(text);
    return NULL;
}
