// text_file.c -- reads by descriptor, so that what was looked at is what is read.
#include "exercises/grader/text_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profiler/files/whole_file.h"
#include "tensor/memory.h"

static Status path_of(const char *folder, const char *name, char path[PATH_MAX]) {
    int length = snprintf(path, PATH_MAX, "%s%s%s", folder ? folder : "", folder ? "/" : "", name);
    if (length < PATH_MAX) return STATUS_OK;
    return error_set(STATUS_IO, "%.100s...: the path is too long", path);
}

static Status refuse(const char *path, const char *reason) {
    return error_set(STATUS_IO, "cannot read '%s': %s", path, reason);
}

// All of it: `size` bytes, or fewer where the file has become shorter.
static bool read_all(int file, char *bytes, size_t *size) {
    size_t done = 0;
    while (done < *size) {
        ssize_t got = read(file, bytes + done, *size - done);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return false;
        if (got == 0) break;
        done += (size_t)got;
    }
    *size = done;
    return true;
}

static char *read_open(int file, const char *path, size_t most, size_t *size) {
    struct stat found;
    if (fstat(file, &found) != 0 || !S_ISREG(found.st_mode)) {
        refuse(path, "it is no regular file");
        return NULL;
    }
    size_t length = (size_t)found.st_size;
    if (found.st_size > (off_t)most) {
        error_set(STATUS_FORMAT, "%s: %lld bytes are too many. HINT: at most %zu", path,
                  (long long)found.st_size, most);
        return NULL;
    }
    char *bytes = memory_new(length + 1);
    if (!bytes) return NULL;
    if (!read_all(file, bytes, &length)) {
        refuse(path, strerror(errno));
        memory_free(bytes);
        return NULL;
    }
    bytes[length] = '\0';
    if (size) *size = length;
    return bytes;
}

char *file_read(const char *folder, const char *name, size_t most, size_t *size) {
    char path[PATH_MAX];
    if (path_of(folder, name, path)) return NULL;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (file < 0) {
        refuse(path, errno == ELOOP ? "it is a link" : strerror(errno));
        return NULL;
    }
    char *bytes = read_open(file, path, most, size);
    close(file);
    return bytes;
}

Status file_write(const char *folder, const char *name, const void *bytes, size_t size) {
    char path[PATH_MAX];
    Status status = path_of(folder, name, path);
    if (status) return status;
    WholeFile *file = whole_file_open(path);
    if (!file) return error_status();
    whole_file_write(file, bytes, size);
    return whole_file_close(file);
}
