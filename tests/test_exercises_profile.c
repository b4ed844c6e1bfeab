// test_exercises_profile.c -- exercises 09 and 10: solutions are right on every seed, skeletons
// never, and each mutant loses and is recognised as its own misconception.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/measure_driver.h"

extern const Exercise exercise_09, exercise_10;
static const Exercise *const profiled[] = {&exercise_09, &exercise_10};
enum { EXERCISES = sizeof profiled / sizeof profiled[0], SEEDS = 100, MOST_MUTANTS = 40 };

static void source_of(const Exercise *exercise, const char *folder, char path[200]) {
    snprintf(path, 200, "%s/ex%s_%s.c", folder, exercise->number, exercise->name);
}

START_TEST(points_add_up) {
    int points = 0;
    for (int i = 0; i < profiled[_i]->n_cases; i++) points += profiled[_i]->cases[i].points;
    ck_assert_int_eq(points, profiled[_i]->points);
}
END_TEST

START_TEST(solution_is_right_on_every_seed) {
    Student student;
    Verdict verdicts[SEEDS];
    char source[200];
    source_of(profiled[_i], "exercises/solutions", source);
    student_compile(&student, profiled[_i], source);
    student_grade(&student, 0, SEEDS, verdicts);
    student_remove(&student);
    for (int s = 0; s < SEEDS; s++)
        ck_assert_msg(verdicts[s].points == profiled[_i]->points, "seed %d: %s", s,
                      verdicts[s].detail);
}
END_TEST

START_TEST(skeleton_scores_nothing) {
    Student student;
    Verdict verdict;
    char source[200];
    source_of(profiled[_i], "exercises", source);
    student_compile(&student, profiled[_i], source);
    student_grade(&student, 0, 1, &verdict);
    student_remove(&student);
    ck_assert_int_eq(verdict.points, 0);
    for (int c = 0; c < profiled[_i]->n_cases; c++) ck_assert(!verdict.passed[c]);
    ck_assert_int_eq(verdict.status, STATUS_NOT_IMPLEMENTED);
    ck_assert_str_eq(verdict.mistake, "");
}
END_TEST

// One mutant of one exercise: the loop's index is exercise * MOST_MUTANTS + mutant.
START_TEST(mutant_is_recognised) {
    enum { TRIED = 25 };
    const Exercise *exercise = profiled[_i / MOST_MUTANTS];
    char path[100], name[64];
    snprintf(path, sizeof path, "/tmp/mutant_%d.c", (int)getpid());
    if (!mutant_write(exercise, _i % MOST_MUTANTS, path, name)) return;
    Student student;
    Verdict verdicts[TRIED];
    student_compile(&student, exercise, path);
    student_grade(&student, 0, TRIED, verdicts);
    student_remove(&student);
    unlink(path);
    for (int s = 0; s < TRIED; s++) {
        ck_assert_msg(verdicts[s].first_failed >= 0, "%s %s passes with seed %d", exercise->name,
                      name, s);
        ck_assert_msg(strcmp(verdicts[s].mistake, name) == 0, "%s %s, seed %d: taken for '%s': %s",
                      exercise->name, name, s, verdicts[s].mistake, verdicts[s].detail);
    }
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {{points_add_up, EXERCISES},
                                 {solution_is_right_on_every_seed, EXERCISES},
                                 {skeleton_scores_nothing, EXERCISES},
                                 {mutant_is_recognised, EXERCISES * MOST_MUTANTS},
                                 {NULL, 0}};
    return harness_main("exercises_profile", tests);
}
