// run_program.c -- fork, exec, and a poll loop that reads both streams, so that neither can block.
#include "tests/helpers/run_program.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "profiler/machine/machine.h"
#include "tests/helpers/harness.h"

enum { LIMIT_SECONDS = 15, MOST_ARGUMENTS = 64, READ_AT_ONCE = 1 << 16 };

typedef struct Text { // grows as it is read
    char *bytes;
    size_t size;
} Text;

// Reads the available bytes; false at the end of the file.
static bool take(int file, Text *text) {
    text->bytes = realloc(text->bytes, text->size + READ_AT_ONCE + 1);
    ck_assert_ptr_nonnull(text->bytes);
    ssize_t got = read(file, text->bytes + text->size, READ_AT_ONCE);
    if (got > 0) text->size += (size_t)got;
    text->bytes[text->size] = '\0';
    return got > 0 || (got < 0 && errno == EINTR);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// ---- the child -------------------------------------------------------------------------------
static void redirect(int from, int to) {
    if (from < 0 || dup2(from, to) < 0) _exit(126);
}

// Writes ceilings as a first run on a quiet machine keeps them: otherwise each program would
// measure them again, beside other tests.
static void keep_ceilings(const char *cache) {
    char path[PATH_MAX];
    Machine machine;
    if (!machine_cache_path(path, sizeof path)) return;
    if (access(path, R_OK) == 0 || machine_calibrate(NULL, NULL, &machine)) return;
    mkdir(cache, 0700);
    snprintf(path, sizeof path, "%.*s/ridgepoint", PATH_MAX - 16, cache);
    mkdir(path, 0700);
    if (machine_cache_path(path, sizeof path)) machine_write(&machine, path);
}

static void become(const char *program, char *arguments, ProgramOutput output, const int *pipes) {
    char *argv[MOST_ARGUMENTS + 2] = {(char *)(uintptr_t)program};
    char *place, *word = strtok_r(arguments, " ", &place);
    for (int n = 1; word && n <= MOST_ARGUMENTS; n++, word = strtok_r(NULL, " ", &place))
        argv[n] = word;
    redirect(open("/dev/null", O_RDONLY), STDIN_FILENO);
    redirect(output == PROGRAM_FULL_DISK ? open("/dev/full", O_WRONLY) : pipes[1], STDOUT_FILENO);
    redirect(pipes[3], STDERR_FILENO);
    signal(SIGPIPE, output == PROGRAM_DEAF_TO_IT ? SIG_IGN : SIG_DFL);
    char cache[PATH_MAX], here[PATH_MAX - 32]; // not the user's; relative paths are ignored
    if (!getcwd(here, sizeof here)) _exit(126);
    snprintf(cache, sizeof cache, "%s/build/test-cache", here);
    setenv("XDG_CACHE_HOME", cache, 1);
    keep_ceilings(cache);
    execv(program, argv);
    _exit(127);
}

// ---- the parent ------------------------------------------------------------------------------
// Reads both streams until both end; false when the time is up first.
static bool listen_to(int out, int err, Text *texts) {
    struct pollfd files[2] = {{.fd = out, .events = POLLIN}, {.fd = err, .events = POLLIN}};
    double end = now() + harness_patience(LIMIT_SECONDS);
    while (files[0].fd >= 0 || files[1].fd >= 0) {
        double left = end - now();
        if (left <= 0.0) return false;
        poll(files, 2, (int)(1000.0 * left) + 1);
        for (int i = 0; i < 2; i++)
            if (files[i].revents && !take(files[i].fd, &texts[i])) files[i].fd = -1;
    }
    return true;
}

ProgramRun program_run(const char *program, const char *arguments, ProgramOutput output) {
    int pipes[4];
    ck_assert_msg(access(program, X_OK) == 0, "%s is not there. HINT: make all", program);
    ck_assert_int_eq(pipe2(&pipes[0], O_CLOEXEC) | pipe2(&pipes[2], O_CLOEXEC), 0);
    char *words = strdup(arguments);
    Text texts[2] = {{calloc(1, 1), 0}, {calloc(1, 1), 0}};
    if (output != PROGRAM_CAPTURED) close(pipes[0]);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) become(program, words, output, pipes);
    free(words);
    close(pipes[1]);
    close(pipes[3]);
    bool ended = listen_to(output == PROGRAM_CAPTURED ? pipes[0] : -1, pipes[2], texts);
    if (!ended) kill(child, SIGKILL);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (output == PROGRAM_CAPTURED) close(pipes[0]);
    close(pipes[2]);
    ck_assert_msg(ended, "%s %s: not done after %g s", program, arguments,
                  harness_patience(LIMIT_SECONDS));
    const char *slash = strrchr(program, '/');
    return (ProgramRun){.program = slash ? slash + 1 : program,
                        .status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
                        .out = texts[0].bytes,
                        .err = texts[1].bytes};
}

void program_run_free(ProgramRun *run) {
    free(run->out);
    free(run->err);
    *run = (ProgramRun){0};
}

const char *program_path(const char *name) {
    static char path[PATH_MAX + 64];
    char self[PATH_MAX] = "";
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    ck_assert_msg(length > 0, "/proc/self/exe: %s", strerror(errno));
    char *build = dirname(dirname(self)); // this program is .../build/normal/tests/test_x
    char copy[PATH_MAX];
    snprintf(copy, sizeof copy, "%s", build);
    bool normal = strcmp(basename(copy), "normal") == 0;
    snprintf(path, sizeof path, "%s%s/%s", build, normal ? "/../.." : "", name);
    return path;
}

void program_names(void) {
    const char *before = getenv("PATH"), *own = program_path("");
    size_t length = strlen(own);
    if (before && strncmp(before, own, length) == 0 && before[length] == ':') return;
    char *path = malloc(length + strlen(before ? before : "") + 2);
    ck_assert_ptr_nonnull(path);
    sprintf(path, "%s:%s", own, before ? before : "");
    ck_assert_int_eq(setenv("PATH", path, 1), 0);
    free(path);
}

int program_count_lines(const char *text) {
    int lines = 0;
    for (const char *c = text; *c; c++) lines += *c == '\n';
    size_t size = strlen(text);
    return size > 0 && text[size - 1] != '\n' ? -1 : lines;
}

void program_check_columns(const char *text) {
    for (const char *end; (end = strchr(text, '\n')); text = end + 1)
        ck_assert_msg(end - text <= 80 && (end == text || end[-1] != ' '),
                      "wider than 80 columns, or with a space at its end: %.*s", (int)(end - text),
                      text);
    ck_assert_msg(strlen(text) <= 80, "wider than 80 columns: %s", text);
}

void program_check_refusal(ProgramRun *run, int status, const char *first, const char *second) {
    ck_assert_msg(run->status == status, "exit status %d instead of %d: %s", run->status, status,
                  run->err);
    ck_assert_msg(program_count_lines(run->err) == 1, "not one line: \"%s\"", run->err);
    size_t name = strlen(run->program);
    ck_assert_msg(strncmp(run->err, run->program, name) == 0 && run->err[name] == ':',
                  "who complains? \"%s\"", run->err);
    ck_assert_msg(strstr(run->err, first) && strstr(run->err, second),
                  "\"%s\" lacks \"%s\" or \"%s\"", run->err, first, second);
    program_run_free(run);
}

void program_refuses(const char *program, const ProgramRefusal *refusal) {
    ProgramRun run = program_run(program_path(program), refusal->arguments, PROGRAM_CAPTURED);
    ck_assert_msg(!run.out[0], "standard output: %s", run.out);
    program_check_refusal(&run, refusal->status, refusal->first, refusal->second);
}
