// contain.c -- begins and finishes contained runs: what is possible here, the plan of a run, and
// what became of it. The work between is the keeper's (contain_keeper.c).
#include "exercises/grader/contain.h"
#include "exercises/grader/contain_parts.h"
#include "tensor/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct ContainRun {
    pid_t keeper;
    int life; // closing it tells the keeper that nobody waits
    unsigned layers;
    ContainLimits limits;
    ContainReport *report; // mapped, shared with the keeper
    size_t report_bytes;
};

// ---- layers ------------------------------------------------------------------------------------
static bool ends_well(pid_t child) {
    int status = 1;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return child > 0 && status == 0;
}

static bool can_list_calls(void) {
    pid_t child = fork();
    if (child == 0) _exit(seccomp_enter("") == 0 ? 0 : 1);
    return ends_well(child);
}

static bool can_have_namespaces(void) {
    uid_t user = geteuid();
    gid_t group = getegid();
    pid_t child = namespace_fork();
    if (child == 0) {
        prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
        _exit(namespace_enter(NULL, user, group) == 0 ? 0 : 1);
    }
    return ends_well(child);
}

unsigned contain_layers(void) {
    static unsigned known;
    static uid_t known_for;
    if (known && known_for == geteuid()) return known;
    unsigned layers = LAYER_LIMITS | LAYER_GROUP;
    if (user_can_be_taken()) layers |= LAYER_USER;
    if (can_list_calls()) layers |= LAYER_SECCOMP;
    if (can_have_namespaces()) layers |= LAYER_NAMESPACE;
    known = layers;
    known_for = geteuid();
    return known;
}

char *contain_layers_text(unsigned layers, char *text, size_t size) {
    static const char *const names[] = {"limits", "group", "user", "seccomp", "namespace"};
    size_t used = 0;
    if (size) text[0] = '\0';
    for (unsigned i = 0; i < sizeof names / sizeof names[0] && used < size; i++)
        if (layers >> i & 1)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", names[i]);
    return text;
}

// ---- beginning ---------------------------------------------------------------------------------
static void close_all(Jail *jail) {
    int *const all[] = {&jail->slot,      &jail->input[0],  &jail->input[1], &jail->output[0],
                        &jail->output[1], &jail->values[0], &jail->values[1]};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (*all[i] >= 0) close(*all[i]);
        *all[i] = -1;
    }
}

// Out of the way of the descriptors that a program expects, whatever the grader has closed.
static bool make_pipe(int ends[2], int ours) {
    int made[2];
    ends[0] = ends[1] = -1;
    if (pipe2(made, O_CLOEXEC) != 0) return false;
    for (int i = 0; i < 2; i++) {
        ends[i] = fcntl(made[i], F_DUPFD_CLOEXEC, 16);
        close(made[i]);
    }
    return ends[0] >= 0 && ends[1] >= 0 && fcntl(ends[ours], F_SETFL, O_NONBLOCK) == 0;
}

static Status make_pipes(ContainRun *run, Jail *jail) {
    int life[2] = {-1, -1};
    bool made = make_pipe(jail->input, 1) && make_pipe(jail->output, 0) &&
                make_pipe(jail->values, 0) && make_pipe(life, 0);
    jail->life = life[0];
    run->life = life[1];
    if (made) return STATUS_OK;
    return error_set(STATUS_IO, "no pipe for another program: %s. HINT: raise ulimit -n",
                     strerror(errno));
}

static Status choose_user(const ContainCommand *command, Jail *jail) {
    jail->outer_user = geteuid();
    jail->outer_group = getegid();
    jail->layers = contain_layers() & ~command->without;
    bool root = geteuid() == 0;
    if (root && !((jail->layers | command->without) & LAYER_USER))
        return error_set(STATUS_STATE,
                         "untrusted programs are not run as root, and there is no other user here. "
                         "HINT: run this as a plain user");
    if (!(jail->layers & LAYER_USER)) return STATUS_OK;
    Status status = user_take(&jail->user, &jail->slot);
    if (status != STATUS_OK) return status;
    jail->group = (gid_t)jail->user;
    jail->own_folder = directory_is_ours(command->directory, &jail->group);
    if (jail->own_folder)
        directory_open_to_group(command->directory, command->limits.file_bytes > 0);
    return STATUS_OK;
}

static Status make_report(ContainRun *run, Jail *jail) {
    size_t capacity = (size_t)jail->command->limits.output_bytes;
    run->report_bytes = sizeof(ContainReport) + 2 * capacity;
    void *memory = memory_request() ? mmap(NULL, run->report_bytes, PROT_READ | PROT_WRITE,
                                           MAP_SHARED | MAP_ANONYMOUS, -1, 0)
                                    : MAP_FAILED;
    if (memory == MAP_FAILED)
        return error_set(STATUS_OUT_OF_MEMORY, "no memory for what another program writes. HINT: "
                                               "close other programs");
    run->report = memory;
    run->report->capacity = capacity;
    jail->report = run->report;
    return STATUS_OK;
}

static void run_free(ContainRun *run) {
    if (run->life >= 0) close(run->life);
    if (run->report) munmap(run->report, run->report_bytes);
    memory_free(run);
}

static Status check_command(const ContainCommand *command) {
    const ContainLimits *limits = &command->limits;
    bool fits = command->argv && command->argv[0] && command->argv[0][0] == '/' &&
                limits->wall_seconds > 0 && limits->cpu_seconds > 0 && limits->memory_bytes >= 0 &&
                limits->file_bytes >= 0 && limits->output_bytes >= 0 &&
                limits->output_bytes <= INT64_C(1) << 30 && limits->processes >= 1;
    if (fits) return STATUS_OK;
    return error_set(STATUS_INVALID_ARGUMENT, "a contained run needs an absolute path, seconds and "
                                              "limits. HINT: see contain.h");
}

static Status start_keeper(ContainRun *run, Jail *jail) {
    Status status = make_report(run, jail);
    if (status == STATUS_OK) status = choose_user(jail->command, jail);
    if (status == STATUS_OK) status = make_pipes(run, jail);
    if (status != STATUS_OK) return status;
    run->layers = jail->layers;
    // A program of our own user could read the right answers in our memory.
    if (geteuid() != 0) prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    run->keeper = fork();
    if (run->keeper == 0) keeper_run(jail);
    if (run->keeper > 0) return STATUS_OK;
    return error_set(STATUS_IO, "no process for another program: %s. HINT: raise ulimit -u",
                     strerror(errno));
}

Status contain_begin(const ContainCommand *command, ContainRun **run) {
    *run = NULL;
    Status status = check_command(command);
    if (status != STATUS_OK) return status;
    ContainRun *new = memory_new(sizeof *new);
    if (!new) return STATUS_OUT_OF_MEMORY;
    new->life = -1;
    new->limits = command->limits;
    Jail jail = {.command = command,
                 .user = NO_USER,
                 .slot = -1,
                 .life = -1,
                 .input = {-1, -1},
                 .output = {-1, -1},
                 .values = {-1, -1}};
    status = start_keeper(new, &jail);
    close_all(&jail);
    if (jail.life >= 0) close(jail.life);
    if (status == STATUS_OK)
        *run = new;
    else
        run_free(new);
    return status;
}

// ---- finishing ---------------------------------------------------------------------------------
// The address space is full long before all of it was touched: half of it is a sign.
static bool was_out_of_memory(const ContainRun *run) {
    int64_t touched = (int64_t)run->report->use.ru_maxrss * 1024;
    return run->limits.memory_bytes > 0 && touched > run->limits.memory_bytes / 2;
}

static double cpu_seconds(const struct rusage *use) {
    return (double)(use->ru_utime.tv_sec + use->ru_stime.tv_sec) +
           1e-6 * (double)(use->ru_utime.tv_usec + use->ru_stime.tv_usec);
}

static ContainEnd judge(const ContainRun *run, int *code) {
    const ContainReport *report = run->report;
    int status = report->status;
    bool signaled = report->ended && WIFSIGNALED(status);
    *code = signaled ? WTERMSIG(status) : report->ended ? WEXITSTATUS(status) : SIGKILL;
    if (report->flooded) return CONTAIN_FLOODED;
    if (report->timed_out) return CONTAIN_TIMED_OUT;
    if (report->ended && !signaled) return CONTAIN_EXITED;
    if (*code == SIGXCPU || cpu_seconds(&report->use) >= run->limits.cpu_seconds)
        return CONTAIN_TIMED_OUT;
    if (*code == SIGSYS && (run->layers & LAYER_SECCOMP)) return CONTAIN_FORBIDDEN;
    return was_out_of_memory(run) ? CONTAIN_OUT_OF_MEMORY : CONTAIN_CRASHED;
}

static Status could_not_run(const ContainReport *report) {
    return error_set(STATUS_IO,
                     "could not start a contained program: %s: %s. HINT: untrusted programs run as "
                     "another user, who must be able to reach the project's folder and TMPDIR",
                     report->failed, strerror(report->error));
}

static char *copy_bytes(const char *bytes, size_t count) {
    char *copy = memory_new(count + 1);
    if (copy) memcpy(copy, bytes, count);
    return copy;
}

// Zeros would end the text before its end.
static void without_zeros(char *text, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (text[i] == '\0') text[i] = '?';
}

static Status take_result(const ContainRun *run, ContainResult *result) {
    const ContainReport *report = run->report;
    if (report->failed) return could_not_run(report);
    result->end = judge(run, &result->code);
    result->values = copy_bytes(report->bytes + report->capacity, report->values_bytes);
    result->output = copy_bytes(report->bytes, report->output_bytes);
    if (!result->values || !result->output) return STATUS_OUT_OF_MEMORY;
    result->values_bytes = report->values_bytes;
    without_zeros(result->output, report->output_bytes);
    text_clean(result->output);
    result->leftovers = report->leftovers;
    result->seconds = report->seconds;
    result->layers = run->layers;
    return STATUS_OK;
}

Status contain_finish(ContainRun *run, ContainResult *result) {
    memset(result, 0, sizeof *result);
    int status;
    while (waitpid(run->keeper, &status, 0) < 0 && errno == EINTR) {
    }
    Status taken = take_result(run, result);
    run_free(run);
    return taken;
}

Status contain_run(const ContainCommand *command, ContainResult *result) {
    memset(result, 0, sizeof *result);
    ContainRun *run;
    Status status = contain_begin(command, &run);
    return status == STATUS_OK ? contain_finish(run, result) : status;
}

void contain_result_free(ContainResult *result) {
    memory_free(result->values);
    memory_free(result->output);
    result->values = result->output = NULL;
}
