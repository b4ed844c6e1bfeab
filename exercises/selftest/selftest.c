// selftest.c -- grades the grader: solutions get everything, skeletons nothing, every known mistake
// its own hint, hostile files what they deserve, the same submission the same result. `make
// grader-selftest`; not part of what students get.
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exercises/selftest/selftest.h"
#include "tensor/context.h"
#include "tensor/memory.h"

enum { ALL_SEEDS = 100, QUICK_SEEDS = 10 };

// ---- lists of tasks ----------------------------------------------------------------------------
Task *task_add(TaskList *list, TaskGroup group, const Exercise *exercise, const char *name,
               void (*run)(const Task *, Finding *)) {
    if (list->tasks == NULL) list->tasks = memory_new(TASKS_MOST * sizeof *list->tasks);
    if (list->tasks == NULL) return NULL;
    if (list->count == TASKS_MOST) {
        error_set(STATUS_STATE, "selftest: more than %d tasks. HINT: raise TASKS_MOST", TASKS_MOST);
        return NULL;
    }
    Task *task = &list->tasks[list->count++];
    *task = (Task){.group = group, .exercise = exercise, .run = run};
    snprintf(task->name, sizeof task->name, "%s%s%s", exercise ? exercise->number : "",
             exercise ? " " : "", name);
    return task;
}

void finding_fail(Finding *finding, const char *format, ...) {
    if (finding->failed) return; // the first is the cause
    va_list arguments;
    va_start(arguments, format);
    finding->failed = true;
    vsnprintf(finding->text, sizeof finding->text, format, arguments);
    va_end(arguments);
}

void finding_skip(Finding *finding, const char *why) {
    finding->skipped = true;
    snprintf(finding->text, sizeof finding->text, "%s", why);
}

bool is_asked(const Options *options, const Exercise *exercise) {
    return options->only == NULL || exercise_find(&exercise, 1, options->only) != NULL;
}

static void list_free(TaskList *list) {
    for (int i = 0; i < list->count; i++) memory_free(list->tasks[i].text);
    memory_free(list->tasks);
}

// ---- the program -------------------------------------------------------------------------------
static const struct option long_options[] = {
    {"only", required_argument, NULL, 'o'},
    {"quick", no_argument, NULL, 'q'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static bool read_options(int argc, char **argv, Options *options) {
    *options = (Options){.seeds = ALL_SEEDS};
    for (int found; (found = getopt_long(argc, argv, "h", long_options, NULL)) != -1;) {
        if (found == 'o') options->only = optarg;
        if (found == 'q') *options = (Options){options->only, QUICK_SEEDS, true};
        if (found == '?' || found == 'h') return false;
    }
    if (options->only == NULL || exercise_by_number(options->only) != NULL) return optind == argc;
    fprintf(stderr, "selftest: --only %s: there is no such exercise\n", options->only);
    return false;
}

static int run(const Options *options) {
    TaskList list = {.options = options};
    Status status = course_tasks(&list);
    if (status == STATUS_OK) status = solution_tasks(&list);
    if (status == STATUS_OK) status = mutant_tasks(&list);
    if (status == STATUS_OK) status = hostile_tasks(&list);
    if (status == STATUS_OK) status = repeat_tasks(&list);
    Finding *findings = NULL;
    int survivors = 0, failed = 1;
    if (status == STATUS_OK) findings = memory_new(((size_t)list.count + 1) * sizeof *findings);
    if (findings != NULL) survivors = tasks_run(&list, findings);
    if (!error_pending())
        failed = table_print(&list, findings, survivors);
    else
        fprintf(stderr, "selftest: %s\n", error_message());
    memory_free(findings);
    list_free(&list);
    return failed;
}

int main(int argc, char **argv) {
    Options options;
    if (!read_options(argc, argv, &options)) {
        fprintf(stderr, "selftest [--only NN] [--quick]     from the project's root\n");
        return 2;
    }
    int status = run(&options);
    context_release_thread();
    return status;
}
