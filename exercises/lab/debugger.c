// debugger.c -- builds the worker as a check does, runs it in gdb with a breakpoint at the
// student's function, and answers it as a check does.
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exercises/grader/build.h"
#include "exercises/grader/dialogue.h"
#include "exercises/lab/command.h"
#include "tensor/memory.h"

static const ExerciseCase *wanted_case(const Lab *lab, const Exercise *exercise) {
    const char *name = lab->options.case_name;
    for (int i = 0; i < exercise->n_cases; i++) {
        const ExerciseCase *definition = &exercise->cases[i];
        if (!definition->by_hand && (!name || strcmp(definition->name, name) == 0))
            return definition;
    }
    return NULL;
}

static bool say(void *to, const void *bytes, size_t count) {
    return send(*(const int *)to, bytes, count, MSG_NOSIGNAL) == (ssize_t)count;
}

// Serves the worker until it has ended.
static Status talk(int channel, const CaseRun *run) {
    char piece[4096];
    Dialogue dialogue = {.runs = run, .n_runs = 1, .say = say, .to = &channel};
    Status status = dialogue_begin(&dialogue);
    for (ssize_t got = 1; !status && got > 0;) {
        got = read(channel, piece, sizeof piece);
        if (got < 0 && errno == EINTR)
            got = 1;
        else if (got > 0 && !dialogue_hear(&dialogue, piece, (size_t)got))
            break;
    }
    dialogue_free(&dialogue);
    return status;
}

static _Noreturn void become_gdb(const char *breakpoint, const char *worker, const int channel[2]) {
    const char *const words[] = {"gdb", "-q", "-ex", breakpoint, "-ex", "run", worker, NULL};
    bool set = dup2(channel[1], WORKER_CHANNEL) == WORKER_CHANNEL;
    if (channel[0] != WORKER_CHANNEL) close(channel[0]);
    if (set) execvp(words[0], (char *const *)(uintptr_t)words);
    _exit(127);
}

static int debug(const char *function, const Build *build, const CaseRun *run) {
    char breakpoint[128], worker[sizeof build->room.path + 16];
    int channel[2], status = 127 << 8;
    snprintf(breakpoint, sizeof breakpoint, "break %.100s", function);
    snprintf(worker, sizeof worker, "%s/" BUILD_WORKER, build->room.path);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, channel) != 0)
        return lab_refuse(LAB_FILE, "--gdb: no channel to the program: %s", strerror(errno));
    fflush(stdout);
    signal(SIGINT, SIG_IGN); // only gdb handles it
    pid_t child = fork();
    if (child == 0) {
        signal(SIGINT, SIG_DFL);
        become_gdb(breakpoint, worker, channel);
    }
    close(channel[1]);
    Status talked = child > 0 ? talk(channel[0], run) : STATUS_OK;
    close(channel[0]);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    error_clear();
    if (talked == STATUS_OK && WIFEXITED(status) && WEXITSTATUS(status) != 127) return LAB_DONE;
    return lab_refuse(LAB_FILE, "--gdb: gdb cannot be started; is it installed?");
}

int debugger_run(Lab *lab, const Exercise *exercise) {
    const ExerciseCase *definition = exercise->answers ? NULL : wanted_case(lab, exercise);
    if (!definition)
        return lab_refuse(LAB_USAGE, "--gdb: there is no code behind this; ./lab check %s",
                          exercise->number);
    CaseRun *run = memory_new(sizeof *run);
    if (!run) return lab_fail();
    Build build = {.room = {.outside = -1, .descriptor = -1}};
    BuildOrder order = {.parts = lab_grade_options(lab).parts,
                        .exercise = exercise,
                        .folder = lab->folder,
                        .sanitize = lab->options.asan,
                        .debug = true,
                        .any_name = true};
    int code = LAB_FAILED;
    Status status = build_make(&order, &build);
    if (!status)
        status = exercise_run_make(exercise, definition, lab_grade_options(lab).key, 0, NULL, run);
    char function[FUNCTION_NAME];
    exercise_function(exercise, definition->function, function);
    if (!status && build.end == BUILD_DONE)
        code = debug(function, &build, run);
    else if (!status)
        lab_refuse(0, "--gdb: it does not compile; ./lab check %s shows why", exercise->number);
    build_free(&build);
    memory_free(run);
    return status ? lab_fail() : code;
}
