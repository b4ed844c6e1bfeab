// alone.c -- namespaces with a read-only world in them, and the trial that it is one.
#include "exercises/selftest/alone.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PLAIN_USER = 54321, ACCOUNT = 65534, CALL_MOUNT_SETATTR = 442, NEVER = 250 };

static const char *const own_folders[] = {"/tmp", "/var/tmp", "/dev/shm", NULL};
static char why[512];

static const char *cannot(const char *what) {
    snprintf(why, sizeof why, "no world of its own here: %.400s: %s", what, strerror(errno));
    return why;
}

// ---- namespaces --------------------------------------------------------------------------------
static bool put(const char *path, const char *text) {
    int file = open(path, O_WRONLY | O_CLOEXEC);
    bool done = file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text);
    if (file >= 0) close(file);
    return done;
}

// A user namespace in which `inside` is who we are, and nobody else is.
static const char *map_user(uid_t inside, uid_t user, gid_t group) {
    char line[64];
    if (!put("/proc/self/setgroups", "deny")) return cannot("setgroups");
    snprintf(line, sizeof line, "%u %u 1", inside, user);
    if (!put("/proc/self/uid_map", line)) return cannot("uid_map");
    snprintf(line, sizeof line, "%u %u 1", inside ? (unsigned)group : 0U, group);
    return put("/proc/self/gid_map", line) ? NULL : cannot("gid_map");
}

static const char *leave(void) {
    uid_t user = geteuid();
    gid_t group = getegid();
    int kinds = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | (user != 0 ? CLONE_NEWUSER : 0);
    if (unshare(kinds) != 0) return cannot("unshare");
    return user != 0 ? map_user(user, user, group) : NULL;
}

// Waits for what goes on in the new process, and ends as it does.
static const char *go_on(void) {
    int status = 0;
    fflush(NULL);
    pid_t child = fork(), ended;
    if (child < 0) return cannot("fork");
    if (child == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        return NULL;
    }
    do {
        ended = wait(&status);
    } while (ended != child && (ended > 0 || errno == EINTR));
    if (WIFSIGNALED(status)) raise(WTERMSIG(status));
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : NEVER);
}

// ---- the world ---------------------------------------------------------------------------------
static int close_to_writing(const char *path, unsigned how) {
    struct {
        uint64_t set, clear, propagation, user_namespace;
    } change = {.set = 1}; // MOUNT_ATTR_RDONLY
    return (int)syscall(CALL_MOUNT_SETATTR, AT_FDCWD, path, how, &change, sizeof change);
}

// Processes may be written to, which is how they get a user namespace; the machine's switches not.
static const char *make_proc(void) {
    if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) != 0)
        return cannot("/proc");
    DIR *entries = opendir("/proc");
    for (const struct dirent *entry; entries && (entry = readdir(entries)) != NULL;) {
        char path[300];
        bool file = entry->d_type == DT_REG || entry->d_type == DT_DIR;
        if (!file || strspn(entry->d_name, ".0123456789") == strlen(entry->d_name)) continue;
        snprintf(path, sizeof path, "/proc/%s", entry->d_name);
        if (mount(path, path, NULL, MS_BIND, NULL) != 0 || close_to_writing(path, 0) != 0) {
            closedir(entries);
            return cannot(path);
        }
    }
    if (!entries) return cannot("/proc");
    closedir(entries);
    return NULL;
}

static const char *make_world(void) {
    const unsigned recursive = 0x8000;
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) return cannot("private mounts");
    if (close_to_writing("/", recursive) != 0) return cannot("read-only mounts");
    for (int i = 0; own_folders[i]; i++)
        if (access(own_folders[i], F_OK) == 0 &&
            mount("tmpfs", own_folders[i], "tmpfs", MS_NOSUID | MS_NODEV, "size=1g,mode=1777") != 0)
            return cannot(own_folders[i]);
    if (setenv("TMPDIR", "/tmp", 1) != 0) return cannot("TMPDIR");
    return make_proc();
}

// A user who is not root has become one over the mounts: no longer.
static const char *give_up_rights(void) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};
    if (geteuid() == 0) return NULL;
    (void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    return syscall(SYS_capset, &header, none) == 0 ? NULL : cannot("capabilities");
}

// ---- the trial ---------------------------------------------------------------------------------
static bool is_own(const char *folder) {
    for (int i = 0; own_folders[i]; i++)
        if (strcmp(folder, own_folders[i]) == 0) return true;
    return false;
}

static bool can_write(const char *folder) {
    char path[600];
    snprintf(path, sizeof path, "%.500s/alone-%d", folder, (int)getpid());
    int file = open(path, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0) return false;
    close(file);
    (void)unlink(path);
    return true;
}

static const char *writable(const char *folder) {
    snprintf(why, sizeof why, "no world of its own here: %.300s can still be written", folder);
    return why;
}

static const char *try_all(void) {
    const char *home = getenv("HOME");
    const char *const known[] = {".",    "build", "/",     "/etc",  "/usr",
                                 "/var", "/run",  "/home", "/root", home ? home : "/"};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (!is_own(known[i]) && can_write(known[i])) return writable(known[i]);
    char line[1024], folder[512];
    FILE *mounts = fopen("/proc/self/mountinfo", "re");
    if (!mounts) return cannot("/proc/self/mountinfo");
    const char *found = NULL;
    while (!found && fgets(line, sizeof line, mounts))
        if (sscanf(line, "%*s %*s %*s %*s %511s", folder) == 1 && !is_own(folder) &&
            can_write(folder))
            found = writable(folder);
    fclose(mounts);
    for (int i = 0; i < 1 && !found; i++)
        if (!can_write(own_folders[i])) found = cannot(own_folders[i]);
    return found;
}

// The new folders must not hide the folder that is tested.
static const char *look_for_here(void) {
    char path[600];
    struct stat named, here;
    bool same = getcwd(path, sizeof path) && stat(path, &named) == 0 && stat(".", &here) == 0 &&
                named.st_dev == here.st_dev && named.st_ino == here.st_ino;
    errno = ENOENT;
    return same ? NULL : cannot("this folder lies in one that is replaced");
}

const char *alone_enter(void) {
    // The first process may have threads (a BLAS's), which no namespace takes. The one that leaves
    // has children only in the new one, and the first of these only reaps: no signal ends it.
    static const char *(*const steps[])(
        void) = {go_on, leave, go_on, go_on, make_world, give_up_rights, look_for_here, try_all};
    const char *reason = NULL;
    for (size_t i = 0; i < sizeof steps / sizeof steps[0] && !reason; i++) reason = steps[i]();
    return reason;
}

// ---- users -------------------------------------------------------------------------------------
const char *const alone_user_names[ALONE_USERS] = {"itself", "a plain user", "root alone"};

const char *alone_become(AloneUser user) {
    uid_t own = geteuid();
    gid_t group = getegid();
    if (user == ALONE_PLAIN && own == 0) {
        if (setgroups(0, NULL) != 0 || setresgid(PLAIN_USER, PLAIN_USER, PLAIN_USER) != 0 ||
            setresuid(PLAIN_USER, PLAIN_USER, PLAIN_USER) != 0)
            return cannot("another user");
        if (access("build/lab/tools", R_OK) != 0) return cannot("a plain user, in this folder");
    }
    if (user != ALONE_MAPPED) return NULL;
    (void)prctl(PR_SET_DUMPABLE, 1, 0, 0, 0); // else these files are another's
    if (unshare(CLONE_NEWUSER) != 0) return cannot("unshare");
    return map_user(0, own, group);
}

// ---- a bystander -------------------------------------------------------------------------------
static void bystander_path(char path[64], const char *folder, pid_t pid) {
    snprintf(path, 64, "%s/bystander-%d", folder, (int)pid);
}

static _Noreturn void stand_by(int ready) {
    char path[64];
    pid_t own = getpid();
    if (geteuid() == 0 && setresgid(ACCOUNT, ACCOUNT, ACCOUNT) == 0)
        (void)!setresuid(ACCOUNT, ACCOUNT, ACCOUNT);
    for (int i = 0; own_folders[i]; i++) {
        bystander_path(path, own_folders[i], own);
        int file = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
        if (file >= 0 && write(file, "mine", 4) != 4) _exit(1);
        if (file >= 0) close(file);
    }
    (void)!write(ready, &own, sizeof own);
    close(ready);
    for (;;) pause();
}

// Nobody's child, so that nobody ends it who counts its own.
Bystander bystander_start(void) {
    Bystander bystander = {.pid = 0};
    int ready[2];
    if (pipe(ready) != 0) return bystander;
    pid_t child = fork();
    if (child == 0) {
        close(ready[0]);
        if (fork() == 0) stand_by(ready[1]);
        _exit(0);
    }
    close(ready[1]);
    if (child > 0) (void)waitpid(child, NULL, 0);
    if (read(ready[0], &bystander.pid, sizeof bystander.pid) != sizeof bystander.pid)
        bystander.pid = 0;
    close(ready[0]);
    return bystander;
}

static bool is_alive(pid_t pid) {
    char path[64], state = 'Z';
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    bool told = file && fscanf(file, "%*d %*s %c", &state) == 1;
    if (file) fclose(file);
    return told && strchr("RSD", state) != NULL; // neither stopped nor dead
}

const char *bystander_harm(const Bystander *bystander) {
    char path[64], text[8] = "";
    if (bystander->pid <= 0) return "no bystander could be started";
    if (!is_alive(bystander->pid)) return "a bystander's process was ended";
    for (int i = 0; own_folders[i]; i++) {
        struct stat found;
        bystander_path(path, own_folders[i], bystander->pid);
        if (access(own_folders[i], F_OK) != 0) continue;
        int file = open(path, O_RDONLY | O_CLOEXEC);
        bool same = file >= 0 && fstat(file, &found) == 0 && read(file, text, sizeof text) == 4 &&
                    memcmp(text, "mine", 4) == 0 && (found.st_mode & 0777) == 0644;
        if (file >= 0) close(file);
        if (!same) return "a bystander's file is not what it was";
    }
    return NULL;
}

void bystander_end(Bystander *bystander) {
    char path[64];
    if (bystander->pid <= 0) return;
    (void)kill(bystander->pid, SIGKILL);
    for (int i = 0; own_folders[i]; i++) {
        bystander_path(path, own_folders[i], bystander->pid);
        (void)unlink(path);
    }
    bystander->pid = 0;
}
