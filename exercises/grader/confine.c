// confine.c -- begins and finishes programs that nobody trusts: what is possible here, and what
// became of each. What they give up before they run is confine_enter.c's, what they may say and how
// long they have is watched by confine_watch.c.
#include "exercises/grader/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exercises/course/text_file.h"
#include "exercises/grader/confine_parts.h"
#include "exercises/support/filter.h"
#include "tensor/clock.h"
#include "tensor/memory.h"

enum { FIRST_OWN = 16, ACCOUNT = 65534 };

// ---- layers ------------------------------------------------------------------------------------
// All by _Fork: for fork, a BLAS ends its threads, and where it cannot begin them again, us.
static bool ends_well(pid_t child) {
    int status = 1;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return child > 0 && status == 0;
}

static bool can_filter(void) {
    Filter filter;
    const uint32_t action = SECCOMP_RET_KILL_PROCESS;
    return filter_make(FILTER_RUN, NULL, &filter) == 0 &&
           syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0U, &action) == 0;
}

static uid_t account(void) {
    const struct passwd *nobody = getpwnam("nobody");
    return nobody && nobody->pw_uid != 0 ? nobody->pw_uid : ACCOUNT;
}

static bool can_be_account(void) {
    if (geteuid() != 0) return false;
    uid_t user = account();
    pid_t child = _Fork();
    if (child == 0) _exit(entry_become(user) ? 1 : 0);
    return ends_well(child);
}

unsigned confine_layers(void) {
    static _Thread_local unsigned known;
    static _Thread_local uid_t known_for;
    if (known && known_for == geteuid()) return known;
    known = LAYER_LIMITS;
    known_for = geteuid();
    if (can_be_account()) known |= LAYER_ACCOUNT;
    if (can_filter()) known |= LAYER_CALLS;
    if (landlock_version() > 0)
        known |= LAYER_FILES;
    else if (bubblewrap_path())
        known |= LAYER_BUBBLEWRAP;
    return known;
}

bool confine_is_safe(unsigned layers) {
    return (layers & LAYER_CALLS) && (layers & (LAYER_FILES | LAYER_BUBBLEWRAP));
}

char *confine_layers_text(unsigned layers, char *text, size_t size) {
    static const char *const names[] = {"limits", "account", "calls", "files", "bubblewrap"};
    size_t used = 0;
    if (size) text[0] = '\0';
    for (unsigned i = 0; i < sizeof names / sizeof names[0] && used < size; i++)
        if (layers >> i & 1)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", names[i]);
    return text;
}

unsigned confine_layers_but(unsigned without) {
    unsigned layers = confine_layers() & ~without;
    if ((without & LAYER_FILES) && !(without & LAYER_BUBBLEWRAP) && bubblewrap_path())
        layers |= LAYER_BUBBLEWRAP;
    // Under bubblewrap there is no other account: it needs ours.
    return layers & LAYER_BUBBLEWRAP ? layers & ~(unsigned)LAYER_ACCOUNT : layers;
}

static unsigned layers_of(const ConfineOrder *order) {
    unsigned layers = confine_layers_but(order->without);
    return order->kind == CONFINE_SANITIZED ? layers & ~(unsigned)LAYER_CALLS : layers;
}

// ---- beginning ---------------------------------------------------------------------------------
// Out of the way of the descriptors that a program expects, whatever the grader has closed.
static int moved(int descriptor) {
    int away = descriptor < 0 ? -1 : fcntl(descriptor, F_DUPFD_CLOEXEC, FIRST_OWN);
    if (descriptor >= 0) close(descriptor);
    return away;
}

static bool make_pair(bool both_ways, int *ours, int *theirs) {
    int made[2] = {-1, -1};
    int failed = both_ways ? socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, made)
                           : pipe2(made, O_CLOEXEC);
    if (failed) return false;
    *ours = moved(made[0]);
    *theirs = moved(made[1]);
    return *ours >= 0 && *theirs >= 0 && fcntl(*ours, F_SETFL, O_NONBLOCK) == 0;
}

static void close_if_open(int *descriptor) {
    if (*descriptor >= 0) close(*descriptor);
    *descriptor = -1;
}

static Status machine_failed(const char *what) {
    return error_set(STATUS_IO,
                     "a program could not be started: %s: %s. HINT: the machine lacks "
                     "something; try again when it has it",
                     what, strerror(errno));
}

static Status start(const ConfineOrder *order, Confined *run, Entry *entry) {
    entry->nothing = moved(open("/dev/null", O_RDWR | O_CLOEXEC));
    bool made = entry->nothing >= 0 && make_pair(false, &run->output, &entry->output) &&
                make_pair(false, &run->failed, &entry->failed) &&
                (!order->hear || make_pair(true, &run->channel, &entry->channel));
    if (!made) return machine_failed("descriptors");
    // Programs of our own user must not read this process's memory: it holds the right answers.
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    run->pid = _Fork();
    if (run->pid == 0) entry_exec(entry);
    if (run->pid < 0) return machine_failed("fork");
    run->handle = (int)syscall(SYS_pidfd_open, run->pid, 0U);
    return STATUS_OK;
}

static Confined *confined_new(const ConfineOrder *order) {
    Confined *run = memory_new(sizeof *run);
    if (!run) return NULL;
    *run = (Confined){.handle = -1,
                      .output = -1,
                      .channel = -1,
                      .failed = -1,
                      .limits = order->limits,
                      .hear = order->hear,
                      .argument = order->argument,
                      .layers = layers_of(order),
                      .begun = clock_seconds()};
    run->deadline = run->begun + order->limits.wall_seconds;
    run->bytes = memory_new((size_t)order->limits.output_bytes + 1);
    if (run->bytes) return run;
    memory_free(run);
    return NULL;
}

static void confined_free(Confined *run) {
    close_if_open(&run->output);
    close_if_open(&run->channel);
    close_if_open(&run->failed);
    close_if_open(&run->handle);
    memory_free(run->bytes);
    memory_free(run);
}

Status confine_begin(const ConfineOrder *order, Confined **run) {
    *run = NULL;
    Status status = grants_check(order);
    if (status) return status;
    Confined *new = confined_new(order);
    if (!new) return error_status();
    Entry entry = {.order = order,
                   .layers = new->layers,
                   .account = account(),
                   .parent = getpid(),
                   .output = -1,
                   .channel = -1,
                   .failed = -1,
                   .nothing = -1,
                   .bubblewrap = new->layers &LAYER_BUBBLEWRAP ? bubblewrap_path() : NULL};
    status = start(order, new, &entry);
    int *const theirs[] = {&entry.output, &entry.channel, &entry.failed, &entry.nothing};
    for (int i = 0; i < 4; i++) close_if_open(theirs[i]);
    if (status)
        confined_free(new);
    else
        *run = new;
    return status;
}

// ---- finishing ---------------------------------------------------------------------------------
// The address space is full long before all of it was touched: half of it is a sign. The system
// ends a program earlier where it has less.
static bool was_out_of_memory(const Confined *run, int signal) {
    int64_t touched = (int64_t)run->use.ru_maxrss * 1024;
    return run->limits.memory_bytes > 0 &&
           touched > run->limits.memory_bytes / (signal == SIGKILL ? 8 : 2);
}

// Bubblewrap does not tell of its child: there, how long it lived.
static double cpu_seconds(const Confined *run) {
    const struct rusage *use = &run->use;
    if (run->layers & LAYER_BUBBLEWRAP) return run->ended_at - run->begun;
    return (double)(use->ru_utime.tv_sec + use->ru_stime.tv_sec) +
           1e-6 * (double)(use->ru_utime.tv_usec + use->ru_stime.tv_usec);
}

static ConfineEnd judge(const Confined *run, int *code) {
    bool signaled = WIFSIGNALED(run->status);
    *code = signaled ? WTERMSIG(run->status) : WEXITSTATUS(run->status);
    if ((run->layers & LAYER_BUBBLEWRAP) && !signaled &&
        *code > 128) { // which ends as a shell does
        signaled = true;
        *code -= 128;
    }
    if (run->flooded) return CONFINE_FLOODED;
    if (run->unheard) return CONFINE_UNHEARD;
    if (run->timed_out) *code = 0;
    // A program that used three quarters of its processor time did not only wait for a processor.
    bool worked =
        !(run->layers & LAYER_BUBBLEWRAP) && cpu_seconds(run) >= 0.75 * run->limits.cpu_seconds;
    if (run->timed_out) return run->starved && !worked ? CONFINE_MACHINE : CONFINE_TIMED_OUT;
    if (!signaled) return CONFINE_EXITED;
    bool used = cpu_seconds(run) >= run->limits.cpu_seconds;
    if (*code == SIGXCPU || (used && (*code == SIGKILL || !(run->layers & LAYER_BUBBLEWRAP))))
        return CONFINE_TIMED_OUT;
    if (*code == SIGSYS && (run->layers & LAYER_CALLS)) return CONFINE_FORBIDDEN;
    if (was_out_of_memory(run, *code)) return CONFINE_OUT_OF_MEMORY;
    // Nobody in there may send this one; the system does when it has no memory left. Of bubblewrap
    // it is an exit status, which a program may have, too.
    if (run->layers & LAYER_BUBBLEWRAP) return CONFINE_CRASHED;
    return *code == SIGKILL && (run->layers & LAYER_CALLS) ? CONFINE_MACHINE : CONFINE_CRASHED;
}

static void take_output(Confined *run, ConfineResult *result) {
    for (size_t i = 0; i < run->count; i++) // zeros would end the text before its end
        if (run->bytes[i] == '\0') run->bytes[i] = '?';
    run->bytes[run->count] = '\0';
    text_clean(run->bytes);
    result->output = run->bytes;
    run->bytes = NULL;
}

Status confine_finish(Confined *run, ConfineResult *result) {
    *result = (ConfineResult){.layers = run->layers};
    Status status = STATUS_OK;
    if (!run->ended) watch_end(run);
    if (run->failure.step[0]) {
        errno = run->failure.error;
        status = machine_failed(run->failure.step);
    } else {
        result->end = judge(run, &result->code);
        take_output(run, result);
    }
    confined_free(run);
    return status;
}

Status confine_run(const ConfineOrder *order, ConfineResult *result) {
    *result = (ConfineResult){.end = CONFINE_EXITED};
    Confined *run;
    Status status = confine_begin(order, &run);
    if (status) return status;
    confine_serve(&run, 1);
    return confine_finish(run, result);
}

void confine_result_free(ConfineResult *result) {
    memory_free(result->output);
    result->output = NULL;
}
