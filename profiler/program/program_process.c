// program_process.c -- runs this command again in a process that only measures. Differences between
// processes (memory layout, other programs) do not show within one process. Not here: evaluating
// several processes (program_runs.c, program_try.c).
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profiler/program/program.h"
#include "tensor/memory.h"

extern char **environ;

// Marks a process as measure-only. Internal, and not in the help.
#define MEASURE_ONLY "RIDGEPOINT_MEASURE_ONLY"

ProgramRole program_role(void) {
    const char *told = getenv(MEASURE_ONLY);
    return !told                        ? PROGRAM_WHOLE
           : strcmp(told, "1") == 0     ? PROGRAM_MEASURES
           : strcmp(told, "train") == 0 ? PROGRAM_MEASURES_AND_TRAINS
                                        : PROGRAM_WHOLE;
}

static Status refuse(const char *what, int number) {
    return error_set(STATUS_IO,
                     "%s: %s. HINT: without --runs and --try this process measures alone", what,
                     strerror(number));
}

// ---- one process -----------------------------------------------------------------------------
// This process's environment plus one variable; the caller memory_frees it.
static char **environment_new(bool trains) {
    static char measures[] = MEASURE_ONLY "=1", and_trains[] = MEASURE_ONLY "=train";
    size_t n = 0;
    while (environ[n]) n++;
    char **words = memory_new((n + 2) * sizeof(char *));
    if (!words) return NULL;
    memcpy(words + 1, environ, n * sizeof(char *));
    words[0] = trains ? and_trains : measures;
    return words;
}

// The child writes standard output to the pipe's end `out`, and shares our standard error.
static Status spawn(const Program *program, char *const arguments[], int out, pid_t *process) {
    const char *executable = program->executable ? program->executable : "/proc/self/exe";
    posix_spawn_file_actions_t files;
    char **words = environment_new(program->runs_train);
    if (!words) return error_status();
    int failed = posix_spawn_file_actions_init(&files);
    if (!failed) {
        failed = posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
        if (!failed) failed = posix_spawn(process, executable, &files, NULL, arguments, words);
        posix_spawn_file_actions_destroy(&files);
    }
    memory_free(words);
    return failed ? refuse("cannot start a process", failed) : STATUS_OK;
}

// Reads to the end and terminates with 0; NULL with an error pending. The caller memory_frees it.
static char *read_all(int in) {
    size_t size = 1 << 16, used = 0;
    char *text = memory_new(size);
    while (text) {
        ssize_t got = read(in, text + used, size - 1 - used);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) refuse("reading a run", errno);
        if (got <= 0) break;
        used += (size_t)got;
        if (used < size - 1) continue;
        char *larger = memory_resize(text, size, 2 * size);
        if (!larger) break;
        text = larger;
        size *= 2;
    }
    if (text) text[used] = '\0';
    if (!error_pending()) return text;
    memory_free(text);
    return NULL;
}

// Exit status 1 is a valid result, too: prediction and execution differ.
static Status wait_for(pid_t process, const char *what) {
    int state;
    while (waitpid(process, &state, 0) < 0)
        if (errno != EINTR) return refuse("waiting for a run", errno);
    if (WIFEXITED(state) && WEXITSTATUS(state) <= 1) return STATUS_OK;
    return error_set(STATUS_DEVICE,
                     "%s: its process ended with %s %d. HINT: what it said stands above", what,
                     WIFEXITED(state) ? "status" : "signal",
                     WIFEXITED(state) ? WEXITSTATUS(state) : WTERMSIG(state));
}

static Status run(const Program *program, char *const arguments[], const char *what,
                  char **document) {
    int ends[2];
    pid_t process;
    if (pipe(ends)) return refuse("cannot make a pipe", errno);
    fcntl(ends[0], F_SETFD, FD_CLOEXEC); // else the child would keep it open
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    Status status = spawn(program, arguments, ends[1], &process);
    close(ends[1]);
    if (!status) program_watch_helper(process);
    *document = status ? NULL : read_all(ends[0]);
    close(ends[0]);
    if (status) return status;
    program_watch_helper(0);
    if (!wait_for(process, what) && !error_pending()) return STATUS_OK;
    memory_free(*document); // incomplete
    *document = NULL;
    return error_status();
}

// ---- its arguments ---------------------------------------------------------------------------
// Inserts flags after the typed words, since the last flag counts, but before a "--".
static void with_flags(char *const typed[], char *flags, char **words) {
    char *rest, *flag = strtok_r(flags, " ", &rest);
    while (*typed && strcmp(*typed, "--") != 0) *words++ = *typed++;
    for (; flag; flag = strtok_r(NULL, " ", &rest)) *words++ = flag;
    while (*typed) *words++ = *typed++;
}

Status program_measure_again(const Program *program, const char *flags, const char *what,
                             char **document) {
    size_t n = 0;
    while (program->arguments[n]) n++;
    char *copy = memory_copy_string(flags); // it has at most as many words as characters
    char **words = memory_new((n + strlen(flags) + 1) * sizeof(char *));
    *document = NULL;
    if (copy && words) {
        with_flags(program->arguments, copy, words);
        run(program, words, what, document);
    }
    memory_free(words);
    memory_free(copy);
    return error_status();
}
