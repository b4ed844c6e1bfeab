// solutions.c -- solutions get every point on every seed; untouched skeletons get none.
#include <stdio.h>
#include <string.h>

#include "exercises/selftest/selftest.h"

enum { SEEDS_AT_ONCE = 25 }; // in one worker a case

static void explain_wrong(const ExerciseResult *result, uint64_t seed, Finding *finding) {
    const CaseResult *wrong = first_wrong(result);
    finding_fail(finding, "%d of %d points from seed %d on; case %s, run %d (%s): %s %s %.100s",
                 result->points, result->most_points, (int)seed,
                 wrong ? wrong->definition->name : "-", wrong ? wrong->run : 0,
                 wrong && wrong->asked ? wrong->asked->shown : "",
                 wrong ? case_state_word(wrong->state) : "", wrong ? wrong->detail : "",
                 result->compiler ? result->compiler : "");
}

static void grade_solution(const Task *task, Finding *finding) {
    Scratch scratch;
    GradeResult result = {0};
    Status status = scratch_new(&scratch);
    GradeOptions options = scratch_grade(&scratch, &task->exercise, 1);
    options.key.seed = (uint64_t)task->first;
    options.seeds = task->seeds;
    if (!status) status = scratch_add_solution(&scratch, task->exercise, task->style, options.key);
    if (!status) status = grade(&options, &result);
    if (!status) {
        const ExerciseResult *own = &result.exercises[0];
        bool full = own->points == task->exercise->points && result.failed == 0;
        if (!full) explain_wrong(own, options.key.seed, finding);
        if (own->compiler) finding_fail(finding, "the compiler says: %.300s", own->compiler);
    }
    grade_free(&result);
    scratch_remove(&scratch);
}

// As it is handed out: no points, no warnings, and it says that it is not implemented.
static void grade_skeleton(const Task *task, Finding *finding) {
    Scratch untouched = {"exercises"};
    GradeResult result = {0};
    GradeOptions options = scratch_grade(&untouched, &task->exercise, 1);
    if (grade(&options, &result) == STATUS_OK) {
        const ExerciseResult *own = &result.exercises[0];
        if (own->points > 0) finding_fail(finding, "%d points for nothing", own->points);
        if (own->compiler) finding_fail(finding, "the compiler says: %.300s", own->compiler);
        for (int i = 0; i < own->n_cases; i++) {
            CaseState state = own->cases[i].state;
            bool fine = state == CASE_NOT_IMPLEMENTED || state == CASE_MISSING;
            if (own->cases[i].definition->points == 0 || fine) continue;
            finding_fail(finding, "case %s: %s", own->cases[i].definition->name,
                         case_state_word(state));
        }
    }
    grade_free(&result);
}

static Status add_style(TaskList *list, const Exercise *exercise, int style) {
    char name[TASK_NAME];
    snprintf(name, sizeof name, "solution %d", style);
    for (int seed = 0; seed < list->options->seeds; seed += SEEDS_AT_ONCE) {
        int left = list->options->seeds - seed;
        Task *task = task_add(list, GROUP_SOLUTION, exercise, name, grade_solution);
        if (task == NULL) return error_status();
        task->style = style;
        task->first = seed;
        task->seeds = left < SEEDS_AT_ONCE ? left : SEEDS_AT_ONCE;
    }
    return STATUS_OK;
}

Status solution_tasks(TaskList *list) {
    for (int i = 0; i < exercise_count; i++) {
        if (!is_asked(list->options, exercises[i])) continue;
        task_add(list, GROUP_SKELETON, exercises[i], "skeleton", grade_skeleton);
        int styles;
        if (scratch_count_styles(exercises[i], &styles)) return error_status();
        for (int style = 1; style <= styles; style++)
            if (add_style(list, exercises[i], style)) return error_status();
    }
    return error_status();
}
