// contain_keeper.c -- one process per run between grader and program: collects what the program
// writes, ends it at its deadline, ends and reaps whatever it started, and goes.
#include "exercises/grader/contain_parts.h"
#include "tensor/memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef struct Keeper {
    const Jail *jail;
    ContainReport *report;
    pid_t child;     // the program, or the first process of its namespaces
    bool reaped;     // the child
    int input;       // -1: all written, or closed
    size_t written;  // of the input
    int ended;       // becomes readable when a child ends
    double deadline; // of the wall clock
} Keeper;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

// ---- what it writes ----------------------------------------------------------------------------
// Reads what there is; false: nothing more will come.
static bool collect(Keeper *keeper, int pipe, char *bytes, size_t *length) {
    size_t most = (size_t)keeper->jail->command->limits.output_bytes;
    for (;;) {
        char rest[4096];
        bool full = *length == most;
        ssize_t got =
            full ? read(pipe, rest, sizeof rest) : read(pipe, bytes + *length, most - *length);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return errno == EAGAIN;
        if (got == 0) return false;
        if (full) keeper->report->flooded = true;
        if (full) return true;
        *length += (size_t)got;
    }
}

static bool collect_output(Keeper *keeper) {
    ContainReport *report = keeper->report;
    return collect(keeper, keeper->jail->output[0], report->bytes, &report->output_bytes);
}

static bool collect_values(Keeper *keeper) {
    ContainReport *report = keeper->report;
    return collect(keeper, keeper->jail->values[0], report->bytes + report->capacity,
                   &report->values_bytes);
}

static void feed(Keeper *keeper) {
    const ContainCommand *command = keeper->jail->command;
    const char *bytes = command->input;
    size_t left = command->input_bytes - keeper->written;
    ssize_t sent = left ? write(keeper->input, bytes + keeper->written, left) : 0;
    if (sent > 0) keeper->written += (size_t)sent;
    bool later = sent < 0 && (errno == EAGAIN || errno == EINTR);
    if (keeper->written < command->input_bytes && (sent > 0 || later)) return;
    close(keeper->input);
    keeper->input = -1;
}

// ---- ends --------------------------------------------------------------------------------------
// Reaps all that have ended, and counts those that only the program can have started.
static bool reap(Keeper *keeper, int options) {
    for (;;) {
        int status;
        struct rusage use;
        pid_t pid = wait4(-1, &status, options, &use);
        if (pid < 0 && errno == EINTR) continue;
        if (pid <= 0) return pid == 0; // 0: there are others
        if (pid != keeper->child) {
            keeper->report->leftovers++;
            continue;
        }
        keeper->reaped = true;
        if (keeper->jail->layers & LAYER_NAMESPACE) continue; // its first process wrote it down
        keeper->report->ended = true;
        keeper->report->status = status;
        keeper->report->use = use;
    }
}

// The parent of a process, from /proc/PID/stat, after the name, which may contain anything.
static pid_t parent_of(int processes, const char *pid) {
    char path[64], line[512];
    snprintf(path, sizeof path, "%.20s/stat", pid);
    int file = openat(processes, path, O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? -1 : read(file, line, sizeof line - 1);
    if (file >= 0) close(file);
    if (length <= 0) return 0;
    line[length] = '\0';
    const char *after = strrchr(line, ')');
    return after && strlen(after) > 4 ? (pid_t)strtol(after + 4, NULL, 10) : 0;
}

// Does /proc speak of the processes that we see? In a container it may be the host's.
static bool is_own_proc(void) {
    char self[32], link[32];
    ssize_t length = readlink("/proc/self", link, sizeof link - 1);
    snprintf(self, sizeof self, "%d", (int)getpid());
    return length == (ssize_t)strlen(self) && memcmp(link, self, (size_t)length) == 0;
}

// Ends our children. Only we reap them, so none of their numbers can have become another's.
static void end_children(void) {
    DIR *processes = is_own_proc() ? opendir("/proc") : NULL;
    if (!processes) return;
    for (const struct dirent *entry; (entry = readdir(processes)) != NULL;) {
        pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
        if (pid > 1 && parent_of(dirfd(processes), entry->d_name) == getpid()) kill(pid, SIGKILL);
    }
    closedir(processes);
}

// Whatever it started became our child when its parent ended, or will in a moment.
static void end_all(Keeper *keeper) {
    double give_up = now() + 10;
    do {
        if (!keeper->reaped) kill(keeper->child, SIGKILL);
        if (keeper->jail->layers & LAYER_USER) user_end_processes(keeper->jail->user);
        if (keeper->jail->layers & LAYER_GROUP) end_children();
        if (!reap(keeper, WNOHANG)) return;
        nanosleep(&(struct timespec){.tv_nsec = 500000}, NULL);
    } while (now() < give_up);
}

// ---- watching ----------------------------------------------------------------------------------
static bool is_over(const Keeper *keeper) {
    return keeper->reaped || keeper->report->flooded || keeper->report->timed_out;
}

static void watch(Keeper *keeper) {
    enum { OUTPUT, VALUES, ENDED, LIFE, INPUT, WATCHED };
    struct pollfd watched[WATCHED] = {{.fd = keeper->jail->output[0], .events = POLLIN},
                                      {.fd = keeper->jail->values[0], .events = POLLIN},
                                      {.fd = keeper->ended, .events = POLLIN},
                                      {.fd = keeper->jail->life, .events = POLLIN},
                                      {.fd = keeper->input, .events = POLLOUT}};
    while (!is_over(keeper)) {
        double left = keeper->deadline - now();
        if (left <= 0) keeper->report->timed_out = true;
        if (left <= 0) return;
        watched[INPUT].fd = keeper->input;
        int ready = poll(watched, WATCHED, (int)(left < 3600 ? left * 1000 + 1 : 3600000));
        if (ready < 0 && errno != EINTR) return;
        if (ready <= 0) continue;
        if (watched[LIFE].revents) return; // nobody waits for the result
        if (watched[INPUT].revents) feed(keeper);
        if (watched[OUTPUT].revents && !collect_output(keeper)) watched[OUTPUT].fd = -1;
        if (watched[VALUES].revents && !collect_values(keeper)) watched[VALUES].fd = -1;
        if (watched[ENDED].revents) {
            struct signalfd_siginfo unused;
            while (read(keeper->ended, &unused, sizeof unused) > 0) {
            }
            reap(keeper, WNOHANG);
        }
    }
}

// ---- beginning ---------------------------------------------------------------------------------
static int ascending(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

// What else the grader has open is not ours, and would keep pipes of other runs open.
static void keep_only(const Jail *jail) {
    int kept[] = {2,
                  jail->life,
                  jail->slot,
                  jail->input[0],
                  jail->input[1],
                  jail->output[0],
                  jail->output[1],
                  jail->values[0],
                  jail->values[1]};
    enum { KEPT = sizeof kept / sizeof kept[0] };
    qsort(kept, KEPT, sizeof kept[0], ascending);
    for (int i = 0; i < KEPT; i++) {
        if (kept[i] < 2) continue; // no slot
        unsigned last = i + 1 < KEPT ? (unsigned)kept[i + 1] - 1 : ~0U;
        if (last > (unsigned)kept[i]) (void)close_range((unsigned)kept[i] + 1, last, 0);
    }
}

static void own_signals(Keeper *keeper) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_SETMASK, &set, NULL);
    signal(SIGCHLD, SIG_DFL); // ignored, children would leave no status
    signal(SIGPIPE, SIG_IGN); // the program need not read its input
    keeper->ended = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

static pid_t start(const Jail *jail) {
    pid_t child = jail->layers & LAYER_NAMESPACE ? namespace_fork() : fork();
    if (child == 0) jail_enter(jail);
    return child;
}

static void finish(Keeper *keeper) {
    const Jail *jail = keeper->jail;
    end_all(keeper);
    collect_output(keeper);
    collect_values(keeper);
    if (!(jail->layers & LAYER_USER)) return;
    keeper->report->leftovers += user_remove_files(jail->user);
    if (jail->own_folder && jail->command->limits.file_bytes > 0)
        directory_take_back(jail->command->directory, jail->user);
}

_Noreturn void keeper_run(const Jail *jail) {
    memory_fail_at(0); // a failure that the grader's tests planned is not ours
    double began = now();
    Keeper keeper = {.jail = jail,
                     .report = jail->report,
                     .input = jail->input[1],
                     .deadline = began + jail->command->limits.wall_seconds};
    setsid();
    keep_only(jail);
    own_signals(&keeper);
    if (jail->layers & LAYER_GROUP) prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); // the program may be of the same user
    if (jail->layers & LAYER_USER) user_end_processes(jail->user);
    keeper.child = start(jail);
    if (keeper.child < 0) {
        jail->report->failed = "fork";
        jail->report->error = errno;
    } else {
        close(jail->input[0]);
        close(jail->output[1]);
        close(jail->values[1]);
        watch(&keeper);
        jail->report->seconds = now() - began;
        finish(&keeper);
    }
    _exit(0);
}
