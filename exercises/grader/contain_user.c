// contain_user.c -- another user for each run, when the grader is root: which one is free, and what
// ends all that it left. Everything here refuses users outside of the range that contain.h names.
#include "exercises/grader/contain_parts.h"
#include "exercises/grader/contain_remove.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

bool user_is_contained(uid_t user) {
    return user != NO_USER && user >= CONTAIN_FIRST_USER &&
           user < CONTAIN_FIRST_USER + CONTAIN_USERS;
}

// An abstract socket's name belongs to one process and goes with it: a lock without a file.
static int claim(uid_t user) {
    int slot = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (slot < 0) return -1;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int length = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "ridgepoint-user-%u",
                          (unsigned)user);
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
    if (bind(slot, (struct sockaddr *)&address, size) == 0) return slot;
    close(slot);
    return -1;
}

// The first that nobody has; -1: all are taken.
static int claim_any(uid_t *user) {
    for (int i = 0; i < CONTAIN_USERS; i++) {
        *user = (uid_t)(CONTAIN_FIRST_USER + i);
        int slot = claim(*user);
        if (slot >= 0) return slot;
    }
    *user = NO_USER;
    return -1;
}

Status user_take(uid_t *user, int *slot) {
    *slot = claim_any(user);
    if (*slot >= 0) return STATUS_OK;
    return error_set(STATUS_STATE,
                     "none of the %d users for untrusted programs is free. HINT: wait for other "
                     "graders on this machine to end",
                     CONTAIN_USERS);
}

// Gives up being root for good; true only where nothing of root is left.
static bool become(uid_t user) {
    if (!user_is_contained(user)) return false;
    if (setgroups(0, NULL) != 0) return false;
    if (setresgid((gid_t)user, (gid_t)user, (gid_t)user) != 0) return false;
    if (setresuid(user, user, user) != 0) return false;
    uid_t real, effective, saved;
    if (getresuid(&real, &effective, &saved) != 0) return false;
    return real == user && effective == user && saved == user;
}

// With a claim, because another grader ends whatever runs as a user that it has claimed.
bool user_can_be_taken(void) {
    if (geteuid() != 0) return false;
    uid_t user;
    int slot = claim_any(&user);
    if (slot < 0) return true; // others take them: user_take will say so
    pid_t child = fork();
    if (child == 0) _exit(become(user) ? 0 : 1);
    int status = 1;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    close(slot);
    return child > 0 && status == 0;
}

void user_end_processes(uid_t user) {
    if (!user_is_contained(user) || geteuid() != 0) return;
    pid_t child = fork();
    if (child == 0) {
        if (!become(user) || !user_is_contained(getuid())) _exit(1);
        // To all whom this user may signal, which are its own; at once, so that none forks away.
        kill(-1, SIGKILL);
        _exit(0);
    }
    int status;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
}

int user_remove_files(uid_t user) {
    if (!user_is_contained(user) || geteuid() != 0) return 0;
    static const char *const open_to_all[] = {"/tmp", "/var/tmp", "/dev/shm"};
    int removed = 0;
    for (size_t i = 0; i < sizeof open_to_all / sizeof open_to_all[0]; i++) {
        int folder = open(open_to_all[i], O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (folder < 0) continue;
        removed += remove_owned(folder, user);
        close(folder);
    }
    return removed;
}
