// room.c -- private folders: made by name once, then reached through descriptors only.
#include "exercises/grader/room.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "exercises/course/text_file.h"
#include "tensor/memory.h"

enum { MOST_DEPTH = 8, MOST_LEVELS = 100, MOST_COPY = 64 << 20, FEWEST_FILES = 200 };

static const char inside[] = "inside";

// ---- making ------------------------------------------------------------------------------------
static const char *where_temporary(void) {
    const char *chosen = getenv("TMPDIR");
    return chosen && chosen[0] == '/' ? chosen : "/tmp";
}

// As root, programs in it are of another account: it may write there, and remove nothing of ours.
static bool make_inside(Room *room) {
    if (mkdirat(room->outside, inside, 0700) != 0) return false;
    room->descriptor =
        openat(room->outside, inside, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return room->descriptor >= 0 && (geteuid() != 0 || fchmod(room->descriptor, 01777) == 0);
}

static bool has_space(int folder, uint64_t bytes) {
    struct statvfs disk;
    if (fstatvfs(folder, &disk) != 0) return true; // then writing will tell
    bool files = disk.f_files == 0 || disk.f_favail >= FEWEST_FILES;
    return files && (uint64_t)disk.f_bavail * disk.f_frsize >= bytes;
}

bool room_is_full(const Room *room) { return !has_space(room->descriptor, ROOM_BYTES / 4); }

Status room_open(Room *room) {
    *room = (Room){.outside = -1, .descriptor = -1};
    char made[sizeof room->path - sizeof inside];
    int length = snprintf(made, sizeof made, "%s/ridgepoint-XXXXXX", where_temporary());
    if (length < 0 || (size_t)length >= sizeof made)
        return error_set(STATUS_IO, "TMPDIR is too long a path. HINT: unset it");
    if (!mkdtemp(made))
        return error_set(STATUS_IO,
                         "cannot make a folder '%s': %s. HINT: set TMPDIR to a folder "
                         "that you may write to",
                         made, strerror(errno));
    snprintf(room->path, sizeof room->path, "%s/%s", made, inside);
    room->outside = open(made, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (room->outside < 0 || !make_inside(room)) {
        int reason = errno;
        if (room->outside < 0) (void)rmdir(made); // room_close could not reach it
        return error_set(STATUS_IO, "cannot use the folder '%s': %s. HINT: is the disk full?", made,
                         strerror(reason));
    }
    if (has_space(room->descriptor, ROOM_BYTES)) return STATUS_OK;
    return error_set(STATUS_IO,
                     "less than %d MiB are free where '%s' is. HINT: make room, or set TMPDIR",
                     ROOM_BYTES >> 20, made);
}

// ---- removing ----------------------------------------------------------------------------------
// Takes `folder`, a descriptor. What is in it was put there by us or by what we ran.
static void empty(int folder, int depth) {
    (void)fchmod(folder, 0700); // a tree that was copied cannot be changed otherwise
    DIR *listing = fdopendir(folder);
    if (!listing) {
        close(folder);
        return;
    }
    for (const struct dirent *entry; (entry = readdir(listing)) != NULL;) {
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) continue;
        if (unlinkat(folder, name, 0) == 0 || depth == MOST_LEVELS) continue;
        (void)fchmodat(folder, name, 0700, 0); // a folder, as the line above has found
        int below = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (below >= 0) empty(below, depth + 1);
        (void)unlinkat(folder, name, AT_REMOVEDIR);
    }
    closedir(listing);
}

void room_close(Room *room) {
    if (room->path[0] == '\0') return; // nothing was made: a zero is no descriptor of ours
    if (room->descriptor >= 0) empty(room->descriptor, 0);
    if (room->outside >= 0) {
        (void)unlinkat(room->outside, inside, AT_REMOVEDIR);
        close(room->outside);
        room->path[strlen(room->path) - sizeof inside] = '\0';
        (void)rmdir(room->path); // an empty folder only
    }
    *room = (Room){.outside = -1, .descriptor = -1};
}

// ---- files -------------------------------------------------------------------------------------
static Status cannot_write(const char *name) {
    return error_set(STATUS_IO, "cannot write '%s' into the room: %s. HINT: is the disk full?",
                     name, strerror(errno));
}

static Status write_at(int folder, const char *name, const char *bytes, size_t count) {
    int file = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (file < 0) return cannot_write(name);
    ssize_t part = 0;
    for (size_t at = 0; at < count && part >= 0; at += part > 0 ? (size_t)part : 0) {
        part = write(file, bytes + at, count - at);
        if (part < 0 && errno == EINTR) part = 0;
    }
    Status status = part < 0 || fchmod(file, 0644) != 0 ? cannot_write(name) : STATUS_OK;
    close(file);
    return status;
}

Status room_write(const Room *room, const char *name, const void *bytes, size_t count) {
    return write_at(room->descriptor, name, bytes, count);
}

static Status copy_file(int folder, const char *from, const char *name) {
    size_t count = 0;
    char *bytes = file_read(NULL, from, MOST_COPY, &count);
    Status status = bytes ? write_at(folder, name, bytes, count) : error_status();
    memory_free(bytes);
    return status;
}

Status room_copy(const Room *room, const char *from, const char *name) {
    return copy_file(room->descriptor, from, name);
}

static Status copy_tree(int folder, const char *from, const char *name, int depth) {
    int made = mkdirat(folder, name, 0755) == 0
                   ? openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                   : -1;
    if (made < 0) return cannot_write(name);
    DIR *listing = depth < MOST_DEPTH ? opendir(from) : NULL;
    Status status = listing
                        ? STATUS_OK
                        : error_set(STATUS_IO, "cannot read the folder '%s'. HINT: make lab", from);
    for (const struct dirent *entry; !status && (entry = readdir(listing)) != NULL;) {
        char path[512];
        struct stat found;
        if (entry->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%.255s/%.255s", from, entry->d_name);
        if (stat(path, &found) == 0 && S_ISDIR(found.st_mode))
            status = copy_tree(made, path, entry->d_name, depth + 1);
        else
            status = copy_file(made, path, entry->d_name);
    }
    if (listing) closedir(listing);
    if (!status && fchmod(made, 0555) != 0) status = cannot_write(name);
    close(made);
    return status;
}

Status room_copy_tree(const Room *room, const char *from, const char *name) {
    return copy_tree(room->descriptor, from, name, 0);
}

int room_read(const Room *room, const char *name) {
    return openat(room->descriptor, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
}
