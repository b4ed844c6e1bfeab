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

// ---- what came of it ----------------------------------------------------------------------------
// A row an exercise, every failure in full, and the count.
static const char *const headings[GROUP_COUNT] = {
    [GROUP_COURSE] = "course",  [GROUP_SOLUTION] = "solution", [GROUP_SKELETON] = "skeleton",
    [GROUP_MUTANT] = "mutants", [GROUP_HOSTILE] = "hostile",   [GROUP_REPEAT] = "repeat",
};

typedef struct Count {
    int passed, failed, skipped;
} Count;

static Count count_of(const TaskList *list, const Finding findings[], const Exercise *exercise,
                      TaskGroup group) {
    Count count = {0, 0, 0};
    for (int i = 0; i < list->count; i++) {
        const Task *task = &list->tasks[i];
        if (task->group != group || task->exercise != exercise) continue;
        if (findings[i].failed)
            count.failed++;
        else if (findings[i].skipped)
            count.skipped++;
        else
            count.passed++;
    }
    return count;
}

static void print_row(const TaskList *list, const Finding findings[], const Exercise *exercise) {
    printf("%-2s %-24s", exercise ? exercise->number : "", exercise ? exercise->name : "all of it");
    for (int group = 0; group < GROUP_COUNT; group++) {
        char cell[24] = "";
        Count count = count_of(list, findings, exercise, (TaskGroup)group);
        int all = count.passed + count.failed;
        if (all > 0) snprintf(cell, sizeof cell, "%d/%d", count.passed, all);
        if (all == 0 && count.skipped > 0) snprintf(cell, sizeof cell, "skipped");
        printf(" %8s", cell);
    }
    printf("\n");
}

static int table_print(const TaskList *list, const Finding findings[], int survivors) {
    Count sum = {0, 0, 0};
    printf("%-27s", "");
    for (int group = 0; group < GROUP_COUNT; group++) printf(" %8s", headings[group]);
    printf("\n");
    for (int i = 0; i < exercise_count; i++) {
        if (is_asked(list->options, exercises[i])) print_row(list, findings, exercises[i]);
    }
    print_row(list, findings, NULL);
    for (int i = 0; i < list->count; i++) {
        const Finding *finding = &findings[i];
        sum.failed += finding->failed;
        sum.skipped += !finding->failed && finding->skipped;
        sum.passed += !finding->failed && !finding->skipped;
        if (!finding->failed && !finding->skipped) continue;
        printf("%s %s: %s: %s\n", finding->failed ? "FAILED " : "skipped",
               headings[list->tasks[i].group], list->tasks[i].name, finding->text);
    }
    if (survivors > 0) printf("FAILED  %d processes outlived their grader\n", survivors);
    sum.failed += survivors > 0;
    sum.passed += survivors == 0;
    printf("%d passed, %d failed, %d skipped\n", sum.passed, sum.failed, sum.skipped);
    return sum.failed > 0;
}

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
    *task = (Task){.list = list, .group = group, .exercise = exercise, .run = run};
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
enum { ALL_SEEDS = 100, QUICK_SEEDS = 10 };

static const struct option long_options[] = {
    {"only", required_argument, NULL, 'o'}, {"quick", no_argument, NULL, 'q'},
    {"hostile", no_argument, NULL, 'x'}, // these alone
    {"help", no_argument, NULL, 'h'},       {NULL, 0, NULL, 0},
};

static bool read_options(int argc, char **argv, Options *options) {
    *options = (Options){.seeds = ALL_SEEDS};
    for (int found; (found = getopt_long(argc, argv, "h", long_options, NULL)) != -1;) {
        if (found == 'o') options->only = optarg;
        if (found == 'q') options->seeds = QUICK_SEEDS;
        if (found == 'q') options->quick = true;
        if (found == 'x') options->hostile = true;
        if (found == '?' || found == 'h') return false;
    }
    if (options->only == NULL || exercise_by_number(options->only) != NULL) return optind == argc;
    fprintf(stderr, "selftest: --only %s: there is no such exercise\n", options->only);
    return false;
}

static int run(const Options *options, const char *not_alone) {
    TaskList list = {.options = options, .not_alone = not_alone};
    Status (*const add[])(TaskList *) = {course_tasks, solution_tasks, mutant_tasks, hostile_tasks,
                                         repeat_tasks};
    Status status = STATUS_OK;
    for (size_t i = 0; i < sizeof add / sizeof add[0] && !status; i++)
        if (!options->hostile || add[i] == hostile_tasks) status = add[i](&list);
    Finding *findings = NULL;
    int survivors = 0, failed = 1;
    if (status == STATUS_OK) findings = memory_new(((size_t)list.count + 1) * sizeof *findings);
    if (findings != NULL) survivors = tasks_run(&list, findings);
    if (!error_pending())
        failed = table_print(&list, findings, survivors);
    else
        fprintf(stderr, "selftest: %s\n", error_message());
    bystander_end(&list.bystander);
    memory_free(findings);
    list_free(&list);
    return failed;
}

int main(int argc, char **argv) {
    Options options;
    if (!read_options(argc, argv, &options)) {
        fprintf(stderr, "selftest [--only NN] [--quick] [--hostile]     from the project's root\n");
        return 2;
    }
    int status = run(&options, alone_enter());
    context_release_thread();
    return status;
}
