// test_grade_course.c -- the course's exercises, graded: solutions get all points, skeletons none,
// and one broken file costs only its own exercise.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exercises/course/text_file.h"
#include "exercises/grader/judge.h"
#include "tensor/memory.h"
#include "tests/exercises/sample/sample_exercise.h"
#include "tests/helpers/harness.h"

static void copy_file(const Submission *s, const char *from, const char *name) {
    char *text = file_read(NULL, from, 1 << 20, NULL);
    if (text) submission_add(s, name, text);
    memory_free(text);
    error_clear(); // an exercise may have no answer file
}

static void fill(const Submission *s, const char *folder, const Exercise *exercise) {
    char from[256], name[128];
    if (exercise->answers)
        snprintf(name, sizeof name, "%s", exercise->answers);
    else
        snprintf(name, sizeof name, "ex%s_%s.c", exercise->number, exercise->name);
    snprintf(from, sizeof from, "%s/%s", folder, name);
    copy_file(s, from, name);
    for (int i = 0; i < exercise->n_cases; i++) {
        if (!exercise->cases[i].beside) continue;
        snprintf(from, sizeof from, "%s/%s", folder, exercise->cases[i].beside);
        copy_file(s, from, exercise->cases[i].beside);
    }
}

static GradeOptions course_options(const Submission *s) {
    GradeOptions options = submission_options(s);
    options.exercises = NULL;
    options.parts = "build/lab";
    return options;
}

// Writes the right answers to the questions by hand.
static void fill_by_hand(const Submission *s, DrawKey key) {
    char text[4096] = "", value[VALUE_TEXT];
    CaseRun *run = memory_new(sizeof *run);
    for (int i = 0; i < exercise_count; i++)
        for (int k = 0; k < exercises[i]->n_cases; k++) {
            const ExerciseCase *one = &exercises[i]->cases[k];
            size_t used = strlen(text);
            if (!one->by_hand || exercises[i]->answers) continue;
            ck_assert_int_eq(exercise_run_make(exercises[i], one, key, 0, NULL, run), STATUS_OK);
            snprintf(text + used, sizeof text - used, "%s = %s\n", one->by_hand,
                     value_text(&run->values[0], run->values[0].value, value));
        }
    submission_add(s, "by_hand.txt", text);
    memory_free(run);
}

START_TEST(solutions_get_all_points) {
    Submission s;
    submission_new(&s);
    GradeOptions options = course_options(&s);
    options.key = (DrawKey){.secret = "secret", .student = "ada"};
    for (int i = 0; i < exercise_count; i++) fill(&s, "exercises/solutions", exercises[i]);
    fill_by_hand(&s, options.key);
    submission_grade(&s, &options);
    for (int i = 0; i < s.result.n_exercises; i++) {
        const ExerciseResult *one = &s.result.exercises[i];
        for (int k = 0; k < one->n_cases; k++) {
            const CaseResult *result = &one->cases[k];
            ck_assert_msg(result->state == CASE_PASSED, "%s %s: %s %s %s", one->exercise->number,
                          result->definition->name, case_state_word(result->state), result->detail,
                          one->compiler ? one->compiler : "");
        }
        ck_assert_int_eq(one->points, one->exercise->points);
    }
    submission_free(&s);
}
END_TEST

START_TEST(skeletons_get_no_point) {
    Submission s;
    submission_new(&s);
    for (int i = 0; i < exercise_count; i++) fill(&s, "exercises", exercises[i]);
    GradeOptions options = course_options(&s);
    submission_grade(&s, &options);
    for (int i = 0; i < s.result.n_exercises; i++)
        for (int k = 0; k < s.result.exercises[i].n_cases; k++) {
            const CaseResult *one = &s.result.exercises[i].cases[k];
            bool expected = one->state == CASE_NOT_IMPLEMENTED || one->state == CASE_MISSING;
            ck_assert_msg(expected && one->points == 0, "%s: %s %s", one->definition->name,
                          case_state_word(one->state), one->detail);
        }
    ck_assert_int_eq(s.result.points, 0);
    submission_free(&s);
}
END_TEST

START_TEST(a_broken_file_costs_its_own_exercise_alone) {
    Submission s;
    submission_new(&s);
    GradeOptions options = course_options(&s);
    const Exercise *const list[] = {exercise_by_number("01"), exercise_by_number("02")};
    options.exercises = list;
    options.n_exercises = 2;
    submission_add(&s, "ex01_count_parameters.c", "this is no C\n");
    fill(&s, "exercises/solutions", list[1]);
    submission_grade(&s, &options);
    ck_assert_int_eq(s.result.exercises[0].points, 0);
    ck_assert_int_eq(s.result.exercises[0].cases[1].state, CASE_NOT_COMPILED);
    ck_assert_ptr_nonnull(s.result.exercises[0].compiler);
    ck_assert_int_ge(s.result.exercises[1].points, list[1]->points - 2); // all except those by hand
    submission_free(&s);
}
END_TEST

START_TEST(an_untouched_function_is_found_where_it_is) {
    Submission s;
    submission_new(&s);
    GradeOptions options = course_options(&s);
    options.only_exercise = "02";
    fill(&s, "exercises", exercise_by_number("02"));
    submission_grade(&s, &options);
    ck_assert_int_eq(s.result.n_exercises, 1);
    ck_assert_int_gt(s.result.exercises[0].lines[0], 0);
    submission_free(&s);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {solutions_get_all_points, 0},
        {skeletons_get_no_point, 0},
        {a_broken_file_costs_its_own_exercise_alone, 0},
        {an_untouched_function_is_found_where_it_is, 0},
        {NULL, 0},
    };
    return harness_main("grade_course", tests);
}
