// table.c -- what came of the self-test: a row an exercise, every failure in full, and the count.
#include <stdio.h>

#include "exercises/selftest/selftest.h"

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

int table_print(const TaskList *list, const Finding findings[], int survivors) {
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
