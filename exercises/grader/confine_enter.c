// confine_enter.c -- from a fork of the grader to the program: what a process gives up, in the only
// order in which it can, before it executes what nobody trusts. Everything here takes away.
#include "exercises/grader/confine_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "exercises/support/filter.h"

enum { OPEN_FILES = 64, STACK_BYTES = 8 << 20, MOST_SIGNALS = 64 };

static _Noreturn void fail(const Entry *entry, const char *step, int error) {
    EntryFailure failure = {.error = error};
    snprintf(failure.step, sizeof failure.step, "%s", step);
    ssize_t said = write(entry->failed, &failure, sizeof failure);
    _exit(said > 0 ? 126 : 127);
}

// ---- what the program is left with -------------------------------------------------------------
static void limit(const Entry *entry, int resource, rlim_t soft, rlim_t hard) {
    struct rlimit old;
    if (getrlimit((__rlimit_resource_t)resource, &old) != 0) fail(entry, "getrlimit", errno);
    if (hard > old.rlim_max) hard = old.rlim_max; // nobody but root may raise it
    if (soft > hard) soft = hard;
    const struct rlimit new = {soft, hard};
    if (setrlimit((__rlimit_resource_t)resource, &new) != 0) fail(entry, "setrlimit", errno);
}

// No RLIMIT_NPROC: it counts the processes of an account in all containers of a machine.
static void set_limits(const Entry *entry) {
    const ConfineLimits *limits = &entry->order->limits;
    rlim_t seconds = (rlim_t)ceil(limits->cpu_seconds);
    limit(entry, RLIMIT_CPU, seconds, seconds + 1);
    limit(entry, RLIMIT_FSIZE, (rlim_t)limits->file_bytes, (rlim_t)limits->file_bytes);
    limit(entry, RLIMIT_CORE, 0, 0);
    limit(entry, RLIMIT_NOFILE, OPEN_FILES, OPEN_FILES);
    limit(entry, RLIMIT_STACK, STACK_BYTES, STACK_BYTES);
    limit(entry, RLIMIT_MEMLOCK, 0, 0);
    limit(entry, RLIMIT_MSGQUEUE, 0, 0);
    if (limits->memory_bytes > 0)
        limit(entry, RLIMIT_AS, (rlim_t)limits->memory_bytes, (rlim_t)limits->memory_bytes);
}

static void close_between(int first, int last) { // both included; last -1: to the end
    if (last >= 0 && last < first) return;
    if (syscall(SYS_close_range, (unsigned)first, last < 0 ? ~0U : (unsigned)last, 0U) == 0) return;
    for (int i = first; i <= (last < 0 ? 65535 : last); i++) (void)close(i);
}

// All of the parent's were moved to 16 and beyond. Two of them stay until exec; -1: none.
static void set_descriptors(const Entry *entry, int kept, int other) {
    const int ends[] = {entry->nothing, entry->output, entry->output, entry->channel};
    for (int i = 0; i <= CONFINE_CHANNEL; i++) {
        if (ends[i] < 0)
            (void)close(i);
        else if (dup2(ends[i], i) != i)
            fail(entry, "dup2", errno);
    }
    int low = kept < other ? kept : other, high = kept < other ? other : kept;
    if (low < 0) low = high;
    close_between(CONFINE_CHANNEL + 1, low - 1);
    close_between(low + 1, high - 1);
    close_between(high + 1, -1);
}

static void set_signals(void) {
    for (int i = 1; i <= MOST_SIGNALS; i++) (void)signal(i, SIG_DFL); // ignored would stay ignored
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

// By the system's own calls: the library's would have all threads of the parent follow, wait for
// them, and they are not here.
const char *entry_become(uid_t account) {
    if (syscall(SYS_setgroups, 0, NULL) != 0) return "setgroups";
    if (syscall(SYS_setresgid, account, account, account) != 0) return "setresgid";
    if (syscall(SYS_setresuid, account, account, account) != 0) return "setresuid";
    return geteuid() == account && syscall(SYS_setuid, 0) != 0 ? NULL : "setuid";
}

// As root: another account where there is one (in some containers there is not), and in any case no
// capability, now or after exec.
static void drop_root(const Entry *entry) {
    for (int i = 0; i < 64; i++) (void)prctl(PR_CAPBSET_DROP, i, 0, 0, 0);
    const char *failed = entry->layers & LAYER_ACCOUNT ? entry_become(entry->account) : NULL;
    if (failed) fail(entry, failed, errno);
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};
    if (syscall(SYS_capset, &header, none) != 0) fail(entry, "capset", errno);
}

// ---- becoming the program ----------------------------------------------------------------------
// A BLAS would start a thread per core; ASan's search for leaks would trace itself.
static char *const environment[] = {"PATH=/usr/bin:/bin",
                                    "LC_ALL=C",
                                    "HOME=/nonexistent",
                                    "TMPDIR=.",
                                    "OPENBLAS_NUM_THREADS=1",
                                    "ASAN_OPTIONS=detect_leaks=0",
                                    NULL};

static void make_filter(const Entry *entry, const char *program, Filter *filter) {
    FilterKind kind = entry->order->kind == CONFINE_COMPILER ? FILTER_COMPILER : FILTER_START;
    int error = filter_make(kind, program, filter);
    if (error) fail(entry, "filter", error);
}

static _Noreturn void execute(const Entry *entry) {
    const char *const *argv = entry->order->argv;
    if (entry->layers & LAYER_CALLS) {
        Filter filter;
        make_filter(entry, argv[0], &filter);
        int error = filter_enter(&filter);
        if (error) fail(entry, "seccomp", error);
    }
    execve(argv[0], (char *const *)(uintptr_t)argv, environment);
    fail(entry, "execute", errno);
}

// Bubblewrap sets the filter itself, last of all, and reads it from this file; -1: there is none.
// Written before there are limits, which may allow no file.
static int wrapped_filter(const Entry *entry) {
    Filter filter;
    if (!(entry->layers & LAYER_CALLS)) return -1;
    make_filter(entry, NULL, &filter);
    int made = (int)syscall(SYS_memfd_create, "filter", 0U);
    int file = made < 0 ? -1 : fcntl(made, F_DUPFD, 16);
    size_t size = filter.count * sizeof filter.steps[0];
    if (file < 0 || write(file, filter.steps, size) != (ssize_t)size ||
        lseek(file, 0, SEEK_SET) != 0)
        fail(entry, "filter", errno);
    return file;
}

static _Noreturn void execute_wrapped(const Entry *entry, int filter) {
    char *argv[BUBBLEWRAP_MOST_WORDS];
    bubblewrap_words(entry->order, entry->bubblewrap, filter, argv);
    execve(argv[0], argv, environment);
    fail(entry, "execute", errno);
}

_Noreturn void entry_exec(const Entry *entry) {
    const ConfineOrder *order = entry->order;
    bool wrapped = entry->layers & LAYER_BUBBLEWRAP;
    int files = -1;
    umask(022);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) fail(entry, "prctl", errno);
    setsid();
    set_signals();
    if (fchdir(order->folder) != 0) fail(entry, "fchdir", errno);
    if (entry->layers & LAYER_FILES) {
        int made = landlock_make(order);
        files = made < 0 ? -1 : fcntl(made, F_DUPFD_CLOEXEC, 16);
        if (files < 0) fail(entry, "landlock", errno);
    }
    int filter = wrapped ? wrapped_filter(entry) : -1;
    set_descriptors(entry, entry->failed, wrapped ? filter : files);
    if (geteuid() == 0 && !wrapped) drop_root(entry);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) fail(entry, "prctl", errno); // was reset
    if (getppid() != entry->parent) _exit(127); // it has gone meanwhile
    set_limits(entry);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) fail(entry, "no_new_privs", errno);
    if (files >= 0 && syscall(SYS_landlock_restrict_self, files, 0) != 0)
        fail(entry, "landlock", errno);
    if (files >= 0) close(files);
    if (wrapped) execute_wrapped(entry, filter);
    execute(entry);
}
