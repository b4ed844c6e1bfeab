// mutant_check.c -- every mistake costs points, and the first case that a known one fails names it;
// and every clause of a contract that is numbered [1], [2] ... has a case that stands for it and a
// mistake that breaks it.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exercises/course/text_file.h"
#include "exercises/lab/pages.h"
#include "exercises/selftest/selftest.h"
#include "tensor/memory.h"

enum { MOST_TEXT = 1 << 20, STUDENTS = 4 };

// ---- mistakes ----------------------------------------------------------------------------------
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

// ---- clauses -----------------------------------------------------------------------------------
enum { MOST_CLAUSES = 64, PATH = 200 };

typedef struct Clauses { // by number; those of a contract, of its cases, of its mutants
    bool contract[MOST_CLAUSES], cases[MOST_CLAUSES], mutants[MOST_CLAUSES];
} Clauses;

static void mark(bool *clauses, long number, const char *where, Finding *finding) {
    if (number > 0 && number < MOST_CLAUSES)
        clauses[number] = true;
    else
        finding_fail(finding, "%s: clause %ld", where, number);
}

// "[4]" in the header's comments; the index of an array in an example is no clause: it has letters
// before it.
static void read_contract(const char *header, bool *clauses, Finding *finding) {
    for (const char *at = strchr(header, '['); at; at = strchr(at + 1, '[')) {
        char *end;
        long number = strtol(at + 1, &end, 10);
        bool apart = at == header || !(isalnum((unsigned char)at[-1]) || at[-1] == '_' ||
                                       at[-1] == ']' || at[-1] == ')');
        if (apart && end > at + 1 && *end == ']') mark(clauses, number, "the contract", finding);
    }
}

static void read_cases(const Exercise *exercise, bool *clauses, Finding *finding) {
    for (int i = 0; i < exercise->n_cases; i++) {
        const char *at = exercise->cases[i].clauses;
        for (char *end; at && *at; at = end) {
            long number = strtol(at, &end, 10);
            if (end == at) break;
            mark(clauses, number, exercise->cases[i].name, finding);
        }
    }
}

static Status read_mutants(const char *text, const char *solution, bool *clauses,
                           Finding *finding) {
    bool found = true;
    Status status = STATUS_OK;
    for (const char *at = text; found && !status;) {
        Mutant mutant;
        status = mutant_next(&at, solution, &mutant, &found);
        if (status || !found) break;
        if (mutant.clause) mark(clauses, mutant.clause, mutant.name, finding);
        memory_free(mutant.source);
    }
    return status;
}

static char *read_file(const char *folder, const char *stem, const char *end) {
    char path[PATH];
    snprintf(path, sizeof path, "exercises/%s%s%s", folder, stem, end);
    return file_read(NULL, path, MOST_TEXT, NULL);
}

static void compare(const Clauses *clauses, Finding *finding) {
    for (int i = 1; i < MOST_CLAUSES; i++) {
        bool any = clauses->cases[i] || clauses->mutants[i];
        if (any && !clauses->contract[i])
            finding_fail(finding, "clause %d is not in the contract", i);
        if (clauses->contract[i] && !clauses->cases[i])
            finding_fail(finding, "no case stands for clause %d", i);
        if (clauses->contract[i] && !clauses->mutants[i])
            finding_fail(finding, "no mistake breaks clause %d", i);
    }
    if (!clauses->contract[1]) finding_fail(finding, "the contract has no numbered clause");
}

static void check_clauses(const Task *task, Finding *finding) {
    char stem[TASK_NAME];
    Clauses clauses = {{false}, {false}, {false}};
    snprintf(stem, sizeof stem, "ex%.8s_%.48s", task->exercise->number, task->exercise->name);
    char *header = read_file("", stem, ".h"), *solution = read_file("solutions/", stem, ".c");
    char *mutants = read_file("mutants/", stem, ".txt");
    if (header && solution && mutants) {
        read_contract(header, clauses.contract, finding);
        read_cases(task->exercise, clauses.cases, finding);
        if (read_mutants(mutants, solution, clauses.mutants, finding))
            finding_fail(finding, "%s", error_message());
        compare(&clauses, finding);
    } else {
        finding_fail(finding, "%s", error_message());
    }
    error_clear();
    memory_free(header);
    memory_free(solution);
    memory_free(mutants);
}

Status mutant_tasks(TaskList *list) {
    Status status = STATUS_OK;
    for (int i = 0; i < exercise_count && status == STATUS_OK; i++) {
        if (!is_asked(list->options, exercises[i])) continue;
        if (!exercises[i]->answers &&
            !task_add(list, GROUP_COURSE, exercises[i], "clauses", check_clauses))
            return error_status();
        status = add_exercise(list, exercises[i]);
    }
    return status;
}
