// repeat_check.c -- the same submission gives the same bytes of result.json; and one file that does
// not compile costs its own exercise alone.
#include <stdio.h>
#include <string.h>

#include "exercises/course/text_file.h"
#include "exercises/lab/formats.h"
#include "exercises/selftest/selftest.h"
#include "tensor/memory.h"

enum { MOST_TEXT = 16 << 20 };

// Every exercise solved, but for one that is broken and one that is not there.
static Status fill(const Scratch *scratch, DrawKey key) {
    int codes = 0;
    Status status = STATUS_OK;
    for (int i = 0; i < exercise_count && status == STATUS_OK; i++) {
        char name[TASK_NAME];
        exercise_file(exercises[i], name);
        codes += exercises[i]->answers == NULL;
        if (codes == 1 && exercises[i]->answers == NULL)
            status = scratch_write(scratch, name, "this is no C;\n");
        if (codes != 2 || exercises[i]->answers != NULL)
            status = status ? status : scratch_add_solution(scratch, exercises[i], 1, key);
    }
    return status;
}

// The result as text; NULL: it could not be made.
static char *graded_text(const Scratch *scratch, const char *name) {
    char path[128];
    GradeResult result = {0};
    GradeOptions options = scratch_grade(scratch, NULL, 0);
    snprintf(path, sizeof path, "%s/%s", scratch->folder, name);
    Status status = grade(&options, &result);
    if (!status) status = result_json_write(path, &result);
    grade_free(&result);
    return status ? NULL : file_read(NULL, path, MOST_TEXT, NULL);
}

static void grade_twice(const Task *task, Finding *finding) {
    Scratch scratch;
    (void)task;
    Status status = scratch_new(&scratch);
    if (!status) status = fill(&scratch, scratch_grade(&scratch, NULL, 0).key);
    char *first = status ? NULL : graded_text(&scratch, "first.json");
    char *second = first ? graded_text(&scratch, "second.json") : NULL;
    if (first == NULL || second == NULL)
        finding_fail(finding, "no result.json: %s", error_message());
    else if (strcmp(first, second) != 0) {
        size_t at = 0;
        while (first[at] == second[at]) at++;
        finding_fail(finding, "byte %zu: %.60s ... is once %.60s", at, first + at, second + at);
    }
    error_clear();
    memory_free(first);
    memory_free(second);
    scratch_remove(&scratch);
}

static void grade_broken(const Task *task, Finding *finding) {
    Scratch scratch;
    GradeResult result = {0};
    (void)task;
    Status status = scratch_new(&scratch);
    GradeOptions options = scratch_grade(&scratch, NULL, 0);
    if (!status) status = fill(&scratch, options.key);
    if (!status) status = grade(&options, &result);
    int unsolved = 0;
    for (int i = 0; !status && i < result.n_exercises; i++) {
        unsolved += result.exercises[i].points < result.exercises[i].exercise->points;
    }
    if (!status && unsolved != 2)
        finding_fail(finding, "one file is broken, one missing: %d exercises lost points",
                     unsolved);
    grade_free(&result);
    scratch_remove(&scratch);
}

Status repeat_tasks(TaskList *list) {
    if (list->options->only != NULL) return STATUS_OK;
    task_add(list, GROUP_REPEAT, NULL, "same bytes", grade_twice);
    task_add(list, GROUP_REPEAT, NULL, "only its own", grade_broken);
    return error_status();
}
