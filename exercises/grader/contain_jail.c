// contain_jail.c -- from a fork of the keeper to the program: what a process gives up, in the only
// order in which it can, before it executes what nobody trusts.
#include "exercises/grader/contain_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OPEN_FILES = 64, STACK_BYTES = 8 << 20, VALUES_DESCRIPTOR = 3 };

static _Noreturn void fail(const Jail *jail, const char *step, int error) {
    jail->report->error = error;
    jail->report->failed = step;
    _exit(127);
}

static bool may_write(const Jail *jail) { return jail->command->limits.file_bytes > 0; }

// ---- what the program is left with -------------------------------------------------------------
static void limit(const Jail *jail, int resource, rlim_t soft, rlim_t hard) {
    struct rlimit old;
    if (getrlimit((__rlimit_resource_t)resource, &old) != 0) fail(jail, "getrlimit", errno);
    if (hard > old.rlim_max) hard = old.rlim_max; // nobody but root may raise it
    if (soft > hard) soft = hard;
    const struct rlimit new = {soft, hard};
    if (setrlimit((__rlimit_resource_t)resource, &new) != 0) fail(jail, "setrlimit", errno);
}

static void set_limits(const Jail *jail) {
    const ContainLimits *limits = &jail->command->limits;
    rlim_t seconds = (rlim_t)ceil(limits->cpu_seconds);
    limit(jail, RLIMIT_CPU, seconds, seconds + 1);
    limit(jail, RLIMIT_FSIZE, (rlim_t)limits->file_bytes, (rlim_t)limits->file_bytes);
    limit(jail, RLIMIT_CORE, 0, 0);
    limit(jail, RLIMIT_NOFILE, OPEN_FILES, OPEN_FILES);
    limit(jail, RLIMIT_STACK, STACK_BYTES, STACK_BYTES);
    limit(jail, RLIMIT_MEMLOCK, 0, 0);
    limit(jail, RLIMIT_MSGQUEUE, 0, 0);
    if (limits->memory_bytes > 0)
        limit(jail, RLIMIT_AS, (rlim_t)limits->memory_bytes, (rlim_t)limits->memory_bytes);
    // Counted per user: for our own user only "none" has a meaning.
    if ((jail->layers & LAYER_USER) || limits->processes == 1)
        limit(jail, RLIMIT_NPROC, (rlim_t)limits->processes, (rlim_t)limits->processes);
}

static void set_descriptors(const Jail *jail) {
    const int ends[] = {jail->input[0], jail->output[1], jail->output[1], jail->values[1]};
    for (int i = 0; i <= VALUES_DESCRIPTOR; i++)
        if (dup2(ends[i], i) != i) fail(jail, "dup2", errno);
    if (close_range(VALUES_DESCRIPTOR + 1, ~0U, 0) == 0) return;
    for (int i = VALUES_DESCRIPTOR + 1; i < 65536; i++) (void)close(i);
}

static void set_signals(void) {
    for (int i = 1; i < NSIG; i++) (void)signal(i, SIG_DFL); // ignored would stay ignored
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static void set_user(const Jail *jail) {
    if (!user_is_contained(jail->user)) fail(jail, "user", EINVAL);
    if (setgroups(0, NULL) != 0) fail(jail, "setgroups", errno);
    if (setresgid(jail->group, jail->group, jail->group) != 0) fail(jail, "setresgid", errno);
    if (setresuid(jail->user, jail->user, jail->user) != 0) fail(jail, "setresuid", errno);
    if (geteuid() != jail->user || setuid(0) == 0) fail(jail, "setuid", EPERM);
}

// ---- becoming the program ----------------------------------------------------------------------
static _Noreturn void execute(const Jail *jail) {
    const ContainCommand *command = jail->command;
    static char home[PATH_MAX], temporary[PATH_MAX];
    const char *folder = may_write(jail) ? command->directory : "/nonexistent";
    snprintf(home, sizeof home, "HOME=%s", folder);
    snprintf(temporary, sizeof temporary, "TMPDIR=%s", folder);
    // A BLAS would start a thread per core; ASan's search for leaks would trace itself.
    char *const environment[] = {"PATH=/usr/bin:/bin",
                                 "LC_ALL=C",
                                 "OPENBLAS_NUM_THREADS=1",
                                 "ASAN_OPTIONS=detect_leaks=0",
                                 home,
                                 temporary,
                                 NULL};
    if ((jail->layers & LAYER_SECCOMP)) {
        int error = seccomp_enter(command->argv[0]);
        if (error) fail(jail, "seccomp", error);
    }
    execve(command->argv[0], (char *const *)command->argv, environment);
    fail(jail, "execute", errno);
}

static _Noreturn void become_program(const Jail *jail) {
    umask(022);
    set_signals();
    set_descriptors(jail);
    if (jail->layers & LAYER_GROUP) setsid();
    if (jail->layers & LAYER_USER) set_user(jail);
    set_limits(jail);
    if (chdir(jail->command->directory ? jail->command->directory : "/") != 0)
        fail(jail, "chdir", errno);
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) fail(jail, "no_new_privs", errno);
    execute(jail);
}

// The first process of a process namespace: a program in its place would not get its own signals
// (abort), and all others end with it.
static _Noreturn void keep_namespace(const Jail *jail) {
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0); // else its own files in /proc are root's
    const char *writable = may_write(jail) ? jail->command->directory : NULL;
    int error = namespace_enter(writable, jail->outer_user, jail->outer_group);
    if (error) fail(jail, "namespace", error);
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    pid_t program = fork();
    if (program < 0) fail(jail, "fork", errno);
    if (program == 0) become_program(jail);
    (void)close_range(VALUES_DESCRIPTOR, ~0U, 0); // pipes end when the program ends
    int status;
    struct rusage use;
    for (pid_t ended = 0; ended != program;) ended = wait4(-1, &status, 0, &use);
    jail->report->status = status;
    jail->report->use = use;
    jail->report->ended = true;
    _exit(0);
}

void jail_enter(const Jail *jail) {
    if (jail->layers & LAYER_NAMESPACE) keep_namespace(jail);
    become_program(jail);
}
