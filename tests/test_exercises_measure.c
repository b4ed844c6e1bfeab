// test_exercises_measure.c -- exercises 05 to 08: solutions are right on every seed, skeletons
// never, and each mutant loses and is recognised as its own misconception.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/measure_driver.h"

extern const Exercise exercise_05, exercise_06, exercise_07, exercise_08;
static const Exercise *const measured[] = {&exercise_05, &exercise_06, &exercise_07, &exercise_08};
enum { EXERCISES = sizeof measured / sizeof measured[0], SEEDS = 100, MOST_MUTANTS = 40 };

static int code_points(const Exercise *exercise) {
    int points = 0;
    for (int i = 0; i < exercise->n_cases; i++)
        if (!exercise->cases[i].by_hand) points += exercise->cases[i].points;
    return points;
}

START_TEST(points_add_up) {
    const Exercise *exercise = measured[_i];
    int points = 0;
    for (int i = 0; i < exercise->n_cases; i++) points += exercise->cases[i].points;
    ck_assert_int_eq(points, exercise->points);
}
END_TEST

START_TEST(solution_is_right_on_every_seed) {
    Student student;
    Verdict verdicts[SEEDS];
    char source[200];
    snprintf(source, sizeof source, "exercises/solutions/ex%s_%s.c", measured[_i]->number,
             measured[_i]->name);
    student_compile(&student, measured[_i], source);
    student_grade(&student, 0, SEEDS, verdicts);
    student_remove(&student);
    for (int s = 0; s < SEEDS; s++)
        ck_assert_msg(verdicts[s].points == code_points(measured[_i]), "seed %d: %s", s,
                      verdicts[s].detail);
}
END_TEST

START_TEST(skeleton_scores_nothing) {
    Student student;
    Verdict verdict;
    char source[200];
    snprintf(source, sizeof source, "exercises/ex%s_%s.c", measured[_i]->number,
             measured[_i]->name);
    student_compile(&student, measured[_i], source);
    student_grade(&student, 0, 1, &verdict);
    student_remove(&student);
    ck_assert_int_eq(verdict.points, 0);
    for (int c = 0; c < measured[_i]->n_cases; c++) ck_assert(!verdict.passed[c]);
    ck_assert_int_eq(verdict.status, STATUS_NOT_IMPLEMENTED);
    ck_assert_str_eq(verdict.mistake, "");
}
END_TEST

// One mutant of one exercise: the loop's index is exercise * MOST_MUTANTS + mutant.
START_TEST(mutant_is_recognised) {
    enum { TRIED = 25 };
    const Exercise *exercise = measured[_i / MOST_MUTANTS];
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

// The practice questions are the course page's own.
START_TEST(by_hand_questions_have_the_pages_numbers) {
    static const double answers[] = {0.0, 10.5, 0.0, 2000.0};
    int asked = 0;
    for (int i = 0; i < measured[_i]->n_cases; i++) {
        const ExerciseCase *definition = &measured[_i]->cases[i];
        if (!definition->by_hand) continue;
        CaseRun run = {0};
        ck_assert_int_eq(definition->make(&(Draw){.practice = true}, &run), STATUS_OK);
        ck_assert_double_eq_tol(run.values[0].value.real, answers[_i], 1e-9);
        asked++;
    }
    ck_assert_int_eq(asked, answers[_i] > 0.0);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {{points_add_up, EXERCISES},
                                 {solution_is_right_on_every_seed, EXERCISES},
                                 {skeleton_scores_nothing, EXERCISES},
                                 {mutant_is_recognised, EXERCISES * MOST_MUTANTS},
                                 {by_hand_questions_have_the_pages_numbers, EXERCISES},
                                 {NULL, 0}};
    return harness_main("exercises_measure", tests);
}
