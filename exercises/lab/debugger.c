// debugger.c -- builds the worker as a check does, and hands it to gdb, stopped in the student's
// function.
#include "exercises/lab/debugger.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exercises/grader/build.h"
#include "exercises/grader/text_file.h"
#include "tensor/memory.h"

#define INPUT "gdb-input"
static const ExerciseCase *wanted_case(const Lab *lab, const Exercise *exercise) {
    const char *name = lab->options.case_name;
    for (int i = 0; i < exercise->n_cases; i++) {
        const ExerciseCase *definition = &exercise->cases[i];
        if (!definition->by_hand && (!name || strcmp(definition->name, name) == 0))
            return definition;
    }
    return NULL;
}

// What the engine would send: a nonce, then the input.
static Status write_input(const Lab *lab, const Exercise *exercise, const ExerciseCase *definition,
                          const char *folder) {
    char text[2 * CASE_LINE + 8];
    CaseRun *run = memory_new(sizeof *run);
    if (!run) return error_status();
    DrawKey key = lab_grade_options(lab).key;
    Status status = exercise_run_make(exercise, definition, key, 0, NULL, run);
    snprintf(text, sizeof text, "0\n%s\n", run->input);
    memory_free(run);
    return status ? status : file_write(folder, INPUT, text, strlen(text));
}

// Runs a program of the machine's; its exit status, 127 where it cannot be started.
static int run_tool(const char *const *arguments) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        execvp(arguments[0], (char *const *)(uintptr_t)arguments);
        _exit(127);
    }
    int status = 127 << 8;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int start_gdb(const Exercise *exercise, const Build *build) {
    char breakpoint[128], start[600];
    const char *function = exercise->function;
    snprintf(breakpoint, sizeof breakpoint, "break %.*s", (int)strcspn(function, " "), function);
    snprintf(start, sizeof start, "run <%s/" INPUT " 3>/dev/null", build->directory);
    const char *const arguments[] = {"gdb", "-q",  "-ex",         breakpoint,
                                     "-ex", start, build->worker, NULL};
    if (run_tool(arguments) != 127) return LAB_DONE;
    return lab_refuse(LAB_FILE, "--gdb: gdb cannot be started; is it installed?");
}

int debugger_run(Lab *lab, const Exercise *exercise) {
    const ExerciseCase *definition = exercise->answers ? NULL : wanted_case(lab, exercise);
    if (!definition)
        return lab_refuse(LAB_USAGE, "--gdb: there is no code behind this; ./lab check %s",
                          exercise->number);
    Toolchain *toolchain = memory_new(sizeof *toolchain);
    if (!toolchain) return lab_fail();
    Build build = {.end = BUILD_NO_WORKER};
    BuildOrder order = {.toolchain = toolchain,
                        .exercise = exercise,
                        .folder = lab->folder,
                        .sanitize = lab->options.asan,
                        .any_symbol = true};
    Status status = toolchain_read(lab_grade_options(lab).toolchain, toolchain);
    if (!status) status = build_make(&order, &build);
    bool built = !status && build.end == BUILD_DONE;
    if (built) status = write_input(lab, exercise, definition, build.directory);
    int code = LAB_FAILED;
    if (built && !status)
        code = start_gdb(exercise, &build);
    else if (!status)
        lab_refuse(0, "--gdb: it does not compile; ./lab check %s shows why", exercise->number);
    build_free(&build);
    toolchain_free(toolchain);
    memory_free(toolchain);
    return status ? lab_fail() : code;
}
