// grade_user.c -- before anything is run: is there somebody else to run it as, and may that user
// read what a worker is built from? Who that is, contain.h decides.
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exercises/grader/grade_parts.h"

// Whether others than the owner may follow the path to its end, and read what is there.
static bool is_open_to_others(const char *path) {
    char part[PATH_MAX];
    struct stat about;
    size_t length = strlen(path);
    if (length >= sizeof part) return false;
    for (size_t i = 1; i < length; i++) {
        if (path[i] != '/') continue;
        memcpy(part, path, i);
        part[i] = '\0';
        if (stat(part, &about) != 0 || !(about.st_mode & S_IXOTH)) return false;
    }
    return stat(path, &about) == 0 && (about.st_mode & S_IROTH);
}

Status grade_check_user(const GradeOptions *options) {
    if (geteuid() != 0 || (contain_layers() & ~options->without & LAYER_USER)) return STATUS_OK;
    // A child of root that is root as well may read the answers from its parent's memory.
    return error_set(STATUS_STATE, "grade: running as root, and no other user is possible. HINT: "
                                   "run it as a plain user");
}

Status grade_check_toolchain(const Toolchain *toolchain) {
    const char *closed = NULL;
    if (geteuid() != 0) return STATUS_OK; // then the other user is the same one
    if (!is_open_to_others(toolchain->headers)) closed = toolchain->headers;
    for (int i = 0; i < toolchain->n_workers && !closed; i++)
        if (!is_open_to_others(toolchain->workers[i].object)) closed = toolchain->workers[i].object;
    if (!closed) return STATUS_OK;
    return error_set(STATUS_STATE,
                     "grade: %s cannot be read by the user that student code runs as. HINT: put "
                     "the tree where everybody may look, or make it again with umask 022",
                     closed);
}
