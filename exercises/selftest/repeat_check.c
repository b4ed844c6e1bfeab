// repeat_check.c -- the same submission gives the same bytes of result.json, but for its times; and
// one file that does not compile costs its own exercise alone.
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exercises/grader/result_json.h"
#include "exercises/grader/text_file.h"
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
            status = status ? status : scratch_add_solution(scratch, exercises[i], key);
    }
    return status;
}

// The result without its times, as text; NULL: it could not be made.
static char *graded_text(const Scratch *scratch, const char *name) {
    char path[128];
    GradeResult result = {0};
    GradeOptions options = scratch_grade(scratch, NULL, 0);
    snprintf(path, sizeof path, "%s/%s", scratch->folder, name);
    Status status = grade(&options, &result);
    if (!status) status = result_json_write(path, &result);
    grade_free(&result);
    char *text = status ? NULL : file_read(NULL, path, MOST_TEXT, NULL);
    json_error_t error;
    json_t *document = text ? json_loads(text, 0, &error) : NULL;
    memory_free(text);
    if (document == NULL || json_object_del(document, "times") != 0) return NULL;
    char *canonical = json_dumps(document, JSON_INDENT(1));
    json_decref(document);
    return canonical;
}

static void grade_twice(const Task *task, Finding *finding) {
    Scratch scratch;
    (void)task;
    Status status = scratch_new(&scratch);
    if (!status) status = fill(&scratch, scratch_grade(&scratch, NULL, 0).key);
    char *first = status ? NULL : graded_text(&scratch, "first.json");
    char *second = first ? graded_text(&scratch, "second.json") : NULL;
    if (first == NULL || second == NULL)
        finding_fail(finding, "no result.json with times: %s", error_message());
    else if (strcmp(first, second) != 0) {
        size_t at = 0;
        while (first[at] == second[at]) at++;
        finding_fail(finding, "byte %zu: %.60s ... is once %.60s", at, first + at, second + at);
    }
    error_clear();
    free(first);
    free(second);
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
