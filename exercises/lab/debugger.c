// debugger.c -- builds the worker as a check does, and hands it to gdb, stopped in the student's
// function.
#include "exercises/lab/debugger.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exercises/grader/compile.h"
#include "exercises/grader/text_file.h"
#include "tensor/memory.h"

#define INPUT "gdb-input"
enum { MOST_ARGUMENTS = TOOLCHAIN_MOST_WORDS + 16 };

typedef struct Build {
    Toolchain toolchain;
    CompileResult compiled;
    char folder[256]; // of its own; "": none yet
    char worker[320]; // the program
} Build;

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

static Status link_worker(const Exercise *exercise, Build *build) {
    const ToolchainWorker *worker = toolchain_worker(&build->toolchain, exercise->number);
    if (!worker)
        return error_set(STATUS_STATE, "exercise %s has no worker. HINT: run make lab",
                         exercise->number);
    const char *arguments[MOST_ARGUMENTS] = {
        build->toolchain.compiler, "-g", "-o", build->worker, worker->object,
        build->compiled.object};
    int n = 6;
    for (int i = 0; build->toolchain.libraries[i] && n < MOST_ARGUMENTS - 1; i++)
        arguments[n++] = build->toolchain.libraries[i];
    if (run_tool(arguments) == 0) return STATUS_OK;
    return error_set(STATUS_STATE, "--gdb: exercise %s cannot be linked; the linker says why above",
                     exercise->number);
}

static Status compile_file(const Lab *lab, const Exercise *exercise, Build *build) {
    char file[PATH_MAX], name[96];
    lab_file_name(exercise, name, sizeof name);
    snprintf(file, sizeof file, "%.3900s/%s", lab->folder, name);
    Status status = toolchain_read(lab_grade_options(lab).toolchain, &build->toolchain);
    if (!status) status = contain_directory_new(build->folder, sizeof build->folder);
    if (status) return status;
    snprintf(build->worker, sizeof build->worker, "%s/worker", build->folder);
    CompileRequest request = {.toolchain = &build->toolchain,
                              .exercise = exercise,
                              .file = file,
                              .folder = build->folder,
                              .any_symbol = true};
    return compile_student(&request, &build->compiled);
}

static int start_gdb(const Exercise *exercise, const Build *build) {
    char breakpoint[128], start[400];
    const char *function = exercise->function;
    snprintf(breakpoint, sizeof breakpoint, "break %.*s", (int)strcspn(function, " "), function);
    snprintf(start, sizeof start, "run <%s/" INPUT " 3>/dev/null", build->folder);
    const char *const arguments[] = {"gdb", "-q",  "-ex",         breakpoint,
                                     "-ex", start, build->worker, NULL};
    if (run_tool(arguments) != 127) return LAB_DONE;
    return lab_refuse(LAB_FILE, "--gdb: gdb cannot be started; is it installed?");
}

static int build_and_start(const Lab *lab, const Exercise *exercise, Build *build) {
    const ExerciseCase *definition = exercise->answers ? NULL : wanted_case(lab, exercise);
    if (!definition)
        return lab_refuse(LAB_USAGE, "--gdb: there is no code behind this; ./lab check %s",
                          exercise->number);
    Status status = compile_file(lab, exercise, build);
    if (!status && build->compiled.end != COMPILE_DONE)
        return lab_refuse(LAB_FAILED, "--gdb: it does not compile; ./lab check %s shows why",
                          exercise->number);
    if (!status) status = link_worker(exercise, build);
    if (!status) status = write_input(lab, exercise, definition, build->folder);
    return status ? lab_fail() : start_gdb(exercise, build);
}

int debugger_run(Lab *lab, const Exercise *exercise) {
    Build *build = memory_new(sizeof *build);
    if (!build) return lab_fail();
    *build = (Build){.folder = ""};
    int code = build_and_start(lab, exercise, build);
    if (build->folder[0]) contain_directory_remove(build->folder);
    compile_result_free(&build->compiled);
    toolchain_free(&build->toolchain);
    memory_free(build);
    return code;
}
