// mutant_check.c -- every mistake costs points, and the first case that a known one fails names it.
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "exercises/grader/text_file.h"
#include "exercises/lab/pages.h"
#include "exercises/selftest/selftest.h"
#include "tensor/memory.h"

enum { MOST_TEXT = 1 << 20, STUDENTS = 4 };

// "02 batch_multiplied": what comes after the number.
static const char *mistake_of(const Task *task) { return strchr(task->name, ' ') + 1; }

static void judge(const Task *task, const ExerciseResult *result, Finding *finding) {
    const CaseResult *wrong = first_wrong(result);
    const char *own = mistake_of(task);
    if (result->points >= task->exercise->points || wrong == NULL)
        finding_fail(finding, "it costs nothing");
    else if (pages_told(own) == NULL)
        return; // it has no page, and so no hint
    else if (wrong->mistake == NULL || strcmp(wrong->mistake, own) != 0)
        finding_fail(finding, "case %s, run %d (%s), value %d is taken for %s (%s %s) %.160s",
                     wrong->definition->name, wrong->run, wrong->asked ? wrong->asked->shown : "",
                     wrong->value, wrong->mistake ? wrong->mistake : "no known mistake",
                     case_state_word(wrong->state), wrong->detail,
                     result->compiler ? result->compiler : "");
}

// As one student hands it in; the points, -1 where it could not be graded.
static int grade_of(const Task *task, const char *student, Finding *finding) {
    Scratch scratch;
    GradeResult result = {0};
    char name[TASK_NAME];
    int points = -1;
    exercise_file(task->exercise, name);
    Status status = scratch_new(&scratch);
    GradeOptions options = scratch_grade(&scratch, &task->exercise, 1);
    options.key.student = student;
    if (!status) status = scratch_write(&scratch, name, task->text);
    if (!status) status = scratch_add_solution(&scratch, task->exercise, 1, options.key);
    if (!status) status = grade(&options, &result);
    if (!status) judge(task, &result.exercises[0], finding);
    if (!status) points = result.exercises[0].points;
    grade_free(&result);
    scratch_remove(&scratch);
    return points;
}

// A mistake costs the same whoever makes it.
static void grade_mutant(const Task *task, Finding *finding) {
    int points = grade_of(task, "somebody", finding);
    for (int i = 1; i < task->seeds && !finding->failed; i++) {
        char student[32];
        snprintf(student, sizeof student, "student-%d", i);
        int others = grade_of(task, student, finding);
        if (others != points)
            finding_fail(finding, "it leaves %d points, and %s %d", points, student, others);
    }
}

static Status add_mutants(TaskList *list, const Exercise *exercise, const char *solution,
                          const char *text) {
    bool found = true;
    Status status = STATUS_OK;
    for (const char *at = text; found && status == STATUS_OK;) {
        Mutant mutant;
        status = mutant_next(&at, solution, &mutant, &found);
        if (status != STATUS_OK || !found) break;
        Task *task = task_add(list, GROUP_MUTANT, exercise, mutant.name, grade_mutant);
        if (task == NULL) {
            memory_free(mutant.source);
            return error_status();
        }
        task->text = mutant.source;
        task->seeds = list->options->quick ? 1 : STUDENTS;
    }
    return status;
}

static Status add_exercise(TaskList *list, const Exercise *exercise) {
    char path[160], name[TASK_NAME];
    snprintf(path, sizeof path, "exercises/mutants/ex%.8s_%.64s.txt", exercise->number,
             exercise->name);
    if (access(path, R_OK) != 0) return STATUS_OK; // course_tasks says so
    char *text = file_read(NULL, path, MOST_TEXT, NULL);
    exercise_file(exercise, name);
    char *solution = text ? file_read("exercises/solutions", name, MOST_TEXT, NULL) : NULL;
    Status status = solution ? add_mutants(list, exercise, solution, text) : error_status();
    memory_free(text);
    memory_free(solution);
    return status;
}

Status mutant_tasks(TaskList *list) {
    Status status = STATUS_OK;
    for (int i = 0; i < exercise_count && status == STATUS_OK; i++) {
        if (is_asked(list->options, exercises[i])) status = add_exercise(list, exercises[i]);
    }
    return status;
}
