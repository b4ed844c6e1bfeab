// build.c -- compile, link, and the folder in which both happen.
#include "exercises/grader/build.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "exercises/grader/compile.h"
#include "exercises/grader/contain.h"
#include "tensor/clock.h"
#include "tensor/memory.h"

// A linker that misses one of these is broken; student code does not run yet.
static const ContainLimits link_limits = {.wall_seconds = 60.0,
                                          .cpu_seconds = 30.0,
                                          .memory_bytes = INT64_C(4) << 30,
                                          .file_bytes = 256 << 20,
                                          .output_bytes = 64 << 10,
                                          .processes = 16};

static Status compile(const BuildOrder *order, Build *build, char object[512]) {
    char file[PATH_MAX];
    snprintf(file, sizeof file, "%.3800s/ex%.8s_%.64s.c", order->folder, order->exercise->number,
             order->exercise->name);
    CompileRequest request = {.toolchain = order->toolchain,
                              .exercise = order->exercise,
                              .file = file,
                              .folder = build->directory,
                              .sanitize = order->sanitize,
                              .without = order->without,
                              .any_symbol = order->any_symbol};
    static const BuildEnd ends[] = {[COMPILE_DONE] = BUILD_DONE,
                                    [COMPILE_NO_FILE] = BUILD_NO_FILE,
                                    [COMPILE_FAILED] = BUILD_FAILED,
                                    [COMPILE_FORBIDDEN] = BUILD_FORBIDDEN};
    CompileResult result = {.end = COMPILE_FAILED};
    Status status = compile_student(&request, &result);
    if (!status) {
        build->end = ends[result.end];
        build->line = result.line;
        build->output = result.output;
        result.output = NULL;
        snprintf(build->detail, sizeof build->detail, "%s", result.detail);
        snprintf(object, 512, "%s", result.object);
        if (result.end == COMPILE_NO_FILE)
            snprintf(build->detail, sizeof build->detail, "ex%.8s_%.64s.c", order->exercise->number,
                     order->exercise->name);
    }
    compile_result_free(&result);
    return status;
}

typedef struct LinkLine {
    const char *words[TOOLCHAIN_MOST_WORDS + 16];
    int count;
    char call[128];
} LinkLine;

static void add(LinkLine *line, const char *word) { line->words[line->count++] = word; }

// exercise_call is what worker.c calls; the call file has it under its exercise's name.
static void fill_line(const BuildOrder *order, const Build *build, const char *object,
                      const char *worker, LinkLine *line) {
    snprintf(line->call, sizeof line->call, "-Wl,--defsym=exercise_call=%.64s_call",
             order->exercise->name);
    add(line, order->toolchain->compiler);
    if (order->sanitize) add(line, "-fsanitize=address");
    add(line, "-o");
    add(line, build->worker);
    add(line, worker);
    add(line, object);
    add(line, line->call);
    for (int i = 0; order->toolchain->libraries[i]; i++) add(line, order->toolchain->libraries[i]);
}

static Status link_worker(const BuildOrder *order, Build *build, const char *object,
                          const char *worker) {
    LinkLine line = {.count = 0};
    ContainResult result = {.end = CONTAIN_EXITED};
    snprintf(build->worker, sizeof build->worker, "%s/worker", build->directory);
    fill_line(order, build, object, worker, &line);
    ContainCommand command = {.argv = line.words,
                              .directory = build->directory,
                              .limits = link_limits,
                              .without = order->without | LAYER_SECCOMP};
    Status status = contain_run(&command, &result);
    bool linked = result.end == CONTAIN_EXITED && result.code == 0;
    if (!status && (!linked || access(build->worker, F_OK) != 0)) {
        build->end = BUILD_FAILED;
        snprintf(build->detail, sizeof build->detail, "it compiles, but cannot be linked");
        memory_free(build->output);
        build->output = result.output;
        result.output = NULL;
    }
    contain_result_free(&result);
    return status;
}

Status build_make(const BuildOrder *order, Build *build) {
    char object[512] = "";
    *build = (Build){.end = BUILD_NO_WORKER};
    const ToolchainWorker *worker = toolchain_worker(order->toolchain, order->exercise->number);
    if (!worker) {
        snprintf(build->detail, sizeof build->detail,
                 "the toolchain has no worker of exercise %.8s", order->exercise->number);
        return STATUS_OK;
    }
    double start = clock_seconds();
    Status status = contain_directory_new(build->directory, sizeof build->directory);
    if (!status) status = compile(order, build, object);
    double compiled = clock_seconds();
    build->compile_seconds = compiled - start;
    if (!status && build->end == BUILD_DONE)
        status = link_worker(order, build, object, worker->object);
    build->link_seconds = clock_seconds() - compiled;
    return status;
}

void build_free(Build *build) {
    memory_free(build->output);
    if (build->directory[0] && contain_directory_remove(build->directory) != STATUS_OK)
        error_clear(); // what is left in /tmp changes no result
    *build = (Build){.end = BUILD_NO_WORKER};
}
