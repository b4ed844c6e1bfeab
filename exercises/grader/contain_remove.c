// contain_remove.c -- folders of untrusted programs, and what they left elsewhere: made, opened to
// one user, emptied. Everything goes through open folders and names of single entries.
#include "exercises/grader/contain_remove.h"
#include "exercises/grader/contain_parts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct Removal {
    uid_t user;    // whose entries may go
    bool ours_too; // in a folder of ours: what we, or any contained user, put there
    dev_t device;  // of the folder: no other file system is entered
    int removed, moved;
} Removal;

static bool may_go(const Removal *removal, const struct stat *entry) {
    if (entry->st_dev != removal->device) return false;
    if (removal->ours_too) return entry->st_uid == geteuid() || user_is_contained(entry->st_uid);
    return user_is_contained(removal->user) && entry->st_uid == removal->user;
}

static bool is_entry(const char *name) { return strcmp(name, ".") != 0 && strcmp(name, "..") != 0; }

// Takes apart the folder `name`: files in it go, folders in it move up beside it, where the next
// pass finds them. So depth costs neither descriptors nor stack.
static void remove_folder(Removal *removal, int parent, const char *name) {
    int inner = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *listing = inner < 0 ? NULL : fdopendir(inner);
    if (!listing) {
        if (inner >= 0) close(inner);
        return;
    }
    for (const struct dirent *entry; (entry = readdir(listing)) != NULL;) {
        struct stat found;
        if (!is_entry(entry->d_name)) continue;
        if (fstatat(inner, entry->d_name, &found, AT_SYMLINK_NOFOLLOW) != 0) continue;
        if (!may_go(removal, &found)) continue;
        if (!S_ISDIR(found.st_mode)) {
            if (unlinkat(inner, entry->d_name, 0) == 0) removal->removed++;
            continue;
        }
        char fresh[64];
        snprintf(fresh, sizeof fresh, ".removed-%d-%d", (int)getpid(), removal->moved);
        if (renameat2(inner, entry->d_name, parent, fresh, RENAME_NOREPLACE) == 0) removal->moved++;
    }
    closedir(listing);
    if (unlinkat(parent, name, AT_REMOVEDIR) == 0) removal->removed++;
}

// One pass; whether it changed anything.
static bool remove_pass(Removal *removal, int folder) {
    int removed = removal->removed, moved = removal->moved;
    int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *listing = copy < 0 ? NULL : fdopendir(copy);
    if (!listing) {
        if (copy >= 0) close(copy);
        return false;
    }
    for (const struct dirent *entry; (entry = readdir(listing)) != NULL;) {
        struct stat found;
        if (!is_entry(entry->d_name)) continue;
        if (fstatat(folder, entry->d_name, &found, AT_SYMLINK_NOFOLLOW) != 0) continue;
        if (!may_go(removal, &found)) continue;
        if (S_ISDIR(found.st_mode))
            remove_folder(removal, folder, entry->d_name);
        else if (unlinkat(folder, entry->d_name, 0) == 0)
            removal->removed++;
    }
    closedir(listing);
    return removal->removed > removed || removal->moved > moved;
}

static int remove_from(int folder, Removal *removal) {
    struct stat found;
    if (fstat(folder, &found) != 0 || !S_ISDIR(found.st_mode)) return 0;
    removal->device = found.st_dev;
    while (remove_pass(removal, folder)) {
    }
    return removal->removed;
}

int remove_owned(int folder, uid_t user) {
    if (!user_is_contained(user)) return 0;
    return remove_from(folder, &(Removal){.user = user});
}

int remove_everything(int folder) {
    return remove_from(folder, &(Removal){.user = NO_USER, .ours_too = true});
}

// ---- private folders ---------------------------------------------------------------------------
static const char prefix[] = "ridgepoint-";

static const char *where_temporary(void) {
    const char *chosen = getenv("TMPDIR");
    return chosen && chosen[0] == '/' ? chosen : "/tmp";
}

// Opened without following a link; -1: it is none of ours. A folder that root made has one of the
// range as its group, which nothing else has; anybody else's belongs to nobody else.
static int open_ours(const char *path, struct stat *found) {
    char begins[PATH_MAX];
    int length = snprintf(begins, sizeof begins, "%s/%s", where_temporary(), prefix);
    if (length < 0 || (size_t)length >= sizeof begins) return -1;
    if (strncmp(path, begins, (size_t)length) != 0) return -1;
    if (strlen(path + length) != 6 || strchr(path + length, '/')) return -1;
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0) return -1;
    bool ours = fstat(folder, found) == 0 && found->st_uid == geteuid();
    if (ours && geteuid() == 0) ours = user_is_contained((uid_t)found->st_gid);
    if (ours) return folder;
    close(folder);
    return -1;
}

Status contain_directory_new(char *path, size_t size) {
    int length = snprintf(path, size, "%s/%sXXXXXX", where_temporary(), prefix);
    if (length < 0 || (size_t)length >= size)
        return error_set(STATUS_INVALID_ARGUMENT, "TMPDIR is too long. HINT: unset it");
    if (!mkdtemp(path))
        return error_set(STATUS_IO,
                         "cannot make a folder '%s': %s. HINT: set TMPDIR to a folder that you "
                         "may write to",
                         path, strerror(errno));
    if (geteuid() != 0) return STATUS_OK;
    // The last letters are random; they choose the group as well as anything.
    unsigned sum = 0;
    for (int i = length - 6; i < length; i++) sum = sum * 31 + (unsigned char)path[i];
    gid_t group = (gid_t)(CONTAIN_FIRST_USER + sum % CONTAIN_USERS);
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    bool done = folder >= 0 && fchown(folder, (uid_t)-1, group) == 0 && fchmod(folder, 0750) == 0;
    int error = errno;
    if (folder >= 0) close(folder);
    if (done) return STATUS_OK;
    (void)rmdir(path);
    return error_set(STATUS_IO, "cannot open '%s' to another user: %s. HINT: set TMPDIR", path,
                     strerror(error));
}

Status contain_directory_remove(const char *path) {
    struct stat found;
    int folder = open_ours(path, &found);
    if (folder < 0)
        return error_set(STATUS_INVALID_ARGUMENT,
                         "'%s' is not removed: it is no folder of contain_directory_new. HINT: "
                         "give the path that it gave",
                         path);
    remove_everything(folder);
    close(folder);
    // Only an empty folder goes.
    if (rmdir(path) == 0) return STATUS_OK;
    return error_set(STATUS_IO, "cannot remove '%s': %s. HINT: look what is in it", path,
                     strerror(errno));
}

bool directory_is_ours(const char *path, gid_t *group) {
    struct stat found;
    int folder = path ? open_ours(path, &found) : -1;
    if (folder < 0) return false;
    *group = found.st_gid;
    close(folder);
    return true;
}

void directory_open_to_group(const char *path, bool may_write) {
    struct stat found;
    int folder = geteuid() == 0 ? open_ours(path, &found) : -1;
    if (folder < 0) return;
    (void)fchmod(folder, may_write ? 0770 : 0750);
    close(folder);
}

// So that the next run, as the same user, cannot change what this one made. A file with a second
// name may be somebody else's: it stays as it is.
void directory_take_back(const char *path, uid_t user) {
    if (!user_is_contained(user) || geteuid() != 0) return;
    struct stat found;
    int folder = open_ours(path, &found);
    DIR *listing = folder < 0 ? NULL : fdopendir(folder);
    if (!listing) {
        if (folder >= 0) close(folder);
        return;
    }
    (void)fchmod(folder, 0750);
    for (const struct dirent *entry; (entry = readdir(listing)) != NULL;) {
        if (!is_entry(entry->d_name)) continue;
        if (fstatat(folder, entry->d_name, &found, AT_SYMLINK_NOFOLLOW) != 0) continue;
        if (found.st_uid != user || !S_ISREG(found.st_mode) || found.st_nlink != 1) continue;
        (void)fchownat(folder, entry->d_name, 0, (gid_t)-1, AT_SYMLINK_NOFOLLOW);
    }
    closedir(listing);
}
