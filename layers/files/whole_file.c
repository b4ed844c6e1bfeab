// whole_file.c -- a temporary beside the target, and a rename at the end.
#include "layers/files/whole_file.h"

#include "tensor/memory.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TEMPORARY_ENDING = 48 };

struct WholeFile {
    FILE *file; // NULL until the first byte makes the temporary
    bool owned;
    char *path;      // for messages, and where the temporary goes in the end
    char *temporary; // NULL when written directly
    int error;       // errno of the first failure; 0: none
};

static Status cannot_write(const char *path, int error) {
    return error_set(
        STATUS_IO,
        "cannot write '%s': %s. HINT: check that the directory exists, is writable and "
        "has space left, or give another path",
        path, strerror(error));
}

// ---- opening -----------------------------------------------------------------------------------
static void handle_free(WholeFile *self) {
    memory_free(self->temporary);
    memory_free(self->path);
    memory_free(self);
}

WholeFile *whole_file_on(FILE *file, const char *name) {
    WholeFile *self = memory_new(sizeof *self);
    if (!self) return NULL;
    self->file = file;
    self->path = memory_copy_string(name);
    if (self->path) return self;
    memory_free(self);
    return NULL;
}

// Finds the file that `path` names, through symbolic links, or the one that it would make, and
// whether it can be replaced: in time, before long work. Returns an errno, or 0.
static int find_target(const char *path, char target[PATH_MAX]) {
    struct stat found;
    bool exists = lstat(path, &found) == 0;
    if (!exists && (errno != ENOENT || path[0] == '\0')) return errno;
    bool follow = exists && S_ISLNK(found.st_mode);
    if (!follow) snprintf(target, PATH_MAX, "%s", path);
    if (follow && (!realpath(path, target) || stat(target, &found) != 0)) return errno;
    if (exists && S_ISDIR(found.st_mode)) return EISDIR;
    if (exists && access(target, W_OK) != 0) return errno;

    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", target);
    char *name = strrchr(folder, '/');
    if (name) name[1] = '\0';
    return access(name ? folder : ".", W_OK | X_OK) == 0 ? 0 : errno;
}

// Devices and pipes cannot be replaced.
static bool is_direct(const char *path) {
    struct stat found;
    return stat(path, &found) == 0 && !S_ISREG(found.st_mode) && !S_ISDIR(found.st_mode);
}

// Opens nothing: the reader of a pipe would take the closing for the end.
Status whole_file_check(const char *path) {
    if (!path) return error_set(STATUS_INVALID_ARGUMENT, "no file is named");
    if (strcmp(path, "-") == 0) return STATUS_OK;
    char target[PATH_MAX];
    int error = !is_direct(path) ? find_target(path, target) : access(path, W_OK) == 0 ? 0 : errno;
    return error == 0 ? STATUS_OK : cannot_write(path, error);
}

WholeFile *whole_file_open(const char *path) {
    if (!path) {
        error_set(STATUS_INVALID_ARGUMENT, "no file is named");
        return NULL;
    }
    if (strcmp(path, "-") == 0) return whole_file_on(stdout, "standard output");
    bool direct = is_direct(path);
    char target[PATH_MAX];
    int error = direct ? 0 : find_target(path, target);
    if (error != 0) {
        cannot_write(path, error);
        return NULL;
    }
    WholeFile *self = whole_file_on(NULL, direct ? path : target);
    if (!self) return NULL;
    self->owned = true;
    if (direct) {
        self->file = fopen(path, "w");
        if (!self->file) cannot_write(path, errno);
    } else {
        self->temporary = memory_new(strlen(target) + TEMPORARY_ENDING);
    }
    if (self->file || self->temporary) return self;
    handle_free(self);
    return NULL;
}

// ---- writing -----------------------------------------------------------------------------------
// Makes the temporary beside the target (a rename cannot cross file systems), with the permissions
// of the file it will replace; "x" refuses to reuse what another process, or a crash, left there.
static void make_temporary(WholeFile *self) {
    size_t size = strlen(self->path) + TEMPORARY_ENDING;
    for (int attempt = 0; attempt < 100 && !self->file; attempt++) {
        snprintf(self->temporary, size, "%s.%ld-%d.tmp", self->path, (long)getpid(), attempt);
        self->file = fopen(self->temporary, "wx");
        if (!self->file && errno != EEXIST) break;
    }
    if (!self->file) self->error = errno;
    struct stat old;
    // Best effort: a file system without permissions has none to keep.
    if (self->file && stat(self->path, &old) == 0)
        (void)fchmod(fileno(self->file), old.st_mode & 0777);
}

static bool can_write(WholeFile *self) {
    if (self->error == 0 && !self->file) make_temporary(self);
    errno = 0;
    return self->error == 0;
}

static void note_failure(WholeFile *self) { self->error = errno != 0 ? errno : EIO; }

void whole_file_write(WholeFile *self, const void *bytes, size_t length) {
    if (can_write(self) && fwrite(bytes, 1, length, self->file) != length) note_failure(self);
}

void whole_file_print(WholeFile *self, const char *format, ...) {
    if (!can_write(self)) return;
    va_list arguments;
    va_start(arguments, format);
    if (vfprintf(self->file, format, arguments) < 0) note_failure(self);
    va_end(arguments);
}

void whole_file_sync(WholeFile *self) {
    if (!can_write(self) || !self->temporary) return; // a pipe has no disk
    if (fflush(self->file) != 0 || fsync(fileno(self->file)) != 0) note_failure(self);
}

// ---- ending ------------------------------------------------------------------------------------
Status whole_file_close(WholeFile *self) {
    // A full disk shows only now, when the buffered bytes have to go somewhere.
    bool open = can_write(self) || self->file;
    if (open && fflush(self->file) != 0 && self->error == 0) self->error = errno;
    if (open && self->owned && fclose(self->file) != 0 && self->error == 0) self->error = errno;
    if (self->temporary && self->error == 0 && rename(self->temporary, self->path) != 0)
        self->error = errno;
    if (self->temporary && open && self->error != 0) (void)unlink(self->temporary);
    // A reader of the pipe that has had enough is no failure of ours.
    if (!self->temporary && self->error == EPIPE) self->error = 0;
    Status status = self->error == 0 ? STATUS_OK : cannot_write(self->path, self->error);
    handle_free(self);
    return status;
}

void whole_file_discard(WholeFile *self) {
    if (!self) return;
    if (self->file && self->owned) (void)fclose(self->file);
    if (self->file && self->temporary) (void)unlink(self->temporary);
    handle_free(self);
}
