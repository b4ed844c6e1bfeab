// whole_file.c -- writes to a temporary file beside the target, without a name where the system
// supports that, and renames it at the end.
#include "layers/files/whole_file.h"

#include "tensor/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TEMPORARY_ENDING = 48, PIECE = 1 << 14 }; // bytes

struct WholeFile {
    FILE *file; // NULL until the first byte creates the temporary
    bool owned;
    char *path;      // for messages; the temporary's final place
    char *temporary; // NULL when written directly
    bool nameless;   // the temporary has no name yet
    bool synced;     // on the disk, and its name must be, too
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

typedef struct Place {
    char folder[PATH_MAX];
    const char *name; // in the folder; points into the path
} Place;

static Place place_of(const char *path) {
    Place place = {.folder = ".", .name = path};
    const char *slash = strrchr(path, '/');
    if (!slash) return place;
    snprintf(place.folder, sizeof(place.folder), "%.*s", (int)(slash + 1 - path), path);
    place.name = slash + 1;
    return place;
}

// Finds the file that `path` names or would create, through symbolic links, and whether it can be
// replaced, before long work. Returns an errno, or 0.
static int find_target(const char *path, char target[PATH_MAX]) {
    struct stat found;
    bool exists = lstat(path, &found) == 0;
    if (!exists && (errno != ENOENT || path[0] == '\0')) return errno;
    bool follow = exists && S_ISLNK(found.st_mode);
    if (!follow) snprintf(target, PATH_MAX, "%s", path);
    if (follow && (!realpath(path, target) || stat(target, &found) != 0)) return errno;
    if (exists && S_ISDIR(found.st_mode)) return EISDIR;
    if (exists && access(target, W_OK) != 0) return errno;

    return access(place_of(target).folder, W_OK | X_OK) == 0 ? 0 : errno;
}

// Devices and pipes cannot be replaced.
static bool is_direct(const char *path) {
    struct stat found;
    return stat(path, &found) == 0 && !S_ISREG(found.st_mode) && !S_ISDIR(found.st_mode);
}

// Opens nothing, because the reader of a pipe would see the closing as the end.
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
// The n-th name for a temporary beside the target, because a rename cannot cross file systems.
static void name_temporary(WholeFile *self, int n) {
    snprintf(self->temporary, strlen(self->path) + TEMPORARY_ENDING, "%s.%ld-%d.tmp", self->path,
             (long)getpid(), n);
}

// The link through which an open file can get a name.
typedef struct DescriptorPath {
    char text[40];
} DescriptorPath;
static DescriptorPath descriptor_path(int descriptor) {
    DescriptorPath path;
    snprintf(path.text, sizeof(path.text), "/proc/self/fd/%d", descriptor);
    return path;
}

// Opens a file without a name, which disappears when its writer ends, however it ends. NULL: not
// supported by this system or file system.
static FILE *open_nameless(const char *path) {
#ifdef O_TMPFILE
    Place place = place_of(path);
    int descriptor = open(place.folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
    if (descriptor < 0) return NULL;
    FILE *file =
        access(descriptor_path(descriptor).text, F_OK) == 0 ? fdopen(descriptor, "w") : NULL;
    if (!file) (void)close(descriptor);
    return file;
#else
    (void)path;
    return NULL;
#endif
}

static FILE *open_named(WholeFile *self) {
    FILE *file = NULL;
    for (int attempt = 0; attempt < 100 && !file; attempt++) {
        name_temporary(self, attempt);
        file = fopen(self->temporary, "wx"); // "x": not a file that a crash left
        if (!file && errno != EEXIST) break;
    }
    return file;
}

// Copies the permissions of the file to be replaced. Best effort: a file system without permissions
// has none to keep.
static void take_permissions(const WholeFile *self, FILE *temporary) {
    struct stat old;
    if (stat(self->path, &old) == 0) (void)fchmod(fileno(temporary), old.st_mode & 0777);
}

static void make_temporary(WholeFile *self) {
    self->file = open_nameless(self->path);
    self->nameless = self->file != NULL;
    if (!self->file) self->file = open_named(self);
    if (!self->file)
        self->error = errno;
    else
        take_permissions(self, self->file);
}

// Copies all of a file, also parts that are already on the disk. False, with errno: incomplete.
static bool copy_all(FILE *from, FILE *to) {
    char piece[PIECE];
    off_t at = 0;
    ssize_t got;
    while ((got = pread(fileno(from), piece, sizeof(piece), at)) > 0) {
        if (fwrite(piece, 1, (size_t)got, to) != (size_t)got) return false;
        at += got;
    }
    return got == 0 && fflush(to) == 0 && fsync(fileno(to)) == 0;
}

// Copies a nameless file to a named one, on systems that make files without a name but do not let
// them get one (a security module may forbid the link).
static void move_to_name(WholeFile *self) {
    FILE *named = open_named(self);
    if (named && copy_all(self->file, named)) {
        take_permissions(self, named);
        (void)fclose(self->file);
        self->file = named;
        self->nameless = false;
        return;
    }
    self->error = errno != 0 ? errno : EIO;
    if (!named) return;
    (void)fclose(named);
    (void)unlink(self->temporary);
}

// Gives the file a name for the rename. Until then it is complete, under another name.
static void give_name(WholeFile *self) {
    DescriptorPath from = descriptor_path(fileno(self->file));
    int attempt = 0;
    do {
        name_temporary(self, attempt);
        self->nameless =
            linkat(AT_FDCWD, from.text, AT_FDCWD, self->temporary, AT_SYMLINK_FOLLOW) != 0;
    } while (self->nameless && errno == EEXIST && ++attempt < 100);
    if (self->nameless) move_to_name(self);
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
    self->synced = true;
}

// Waits until the file's name is on the disk. Returns an errno, or 0, also for file systems that
// cannot sync a folder: there is nothing to wait for.
static int sync_name(const char *path) {
    Place place = place_of(path);
    int folder = open(place.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return errno == EACCES ? 0 : errno; // writable, but not readable
    int error = fsync(folder) == 0 || errno == EINVAL || errno == ENOTSUP ? 0 : errno;
    (void)close(folder);
    return error;
}

// ---- ending ------------------------------------------------------------------------------------
Status whole_file_close(WholeFile *self) {
    // A full disk may show only now, when buffered bytes are written.
    bool open = can_write(self) || self->file;
    if (open && fflush(self->file) != 0 && self->error == 0) self->error = errno;
    if (open && self->nameless && self->error == 0) give_name(self);
    if (open && self->owned && fclose(self->file) != 0 && self->error == 0) self->error = errno;
    if (self->temporary && self->error == 0 && rename(self->temporary, self->path) != 0)
        self->error = errno;
    else if (self->temporary && self->error == 0 && self->synced)
        self->error = sync_name(self->path);
    bool left = open && self->temporary && !self->nameless && self->error != 0;
    if (left) (void)unlink(self->temporary);
    // A pipe's reader that stops early is not an error.
    if (!self->temporary && self->error == EPIPE) self->error = 0;
    Status status = self->error == 0 ? STATUS_OK : cannot_write(self->path, self->error);
    handle_free(self);
    return status;
}

void whole_file_discard(WholeFile *self) {
    if (!self) return;
    if (self->file && self->owned) (void)fclose(self->file);
    if (self->file && self->temporary && !self->nameless) (void)unlink(self->temporary);
    handle_free(self);
}
