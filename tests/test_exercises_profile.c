// test_exercises_profile.c -- exercises 09 and 10: solutions are right on every seed, skeletons
// never, and each mutant loses and is recognised as its own misconception.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exercises/course/model_case.h"
#include "exercises/support/reference.h"
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

// What students are given as right is what the profiler says of the same model.
START_TEST(references_agree_with_the_profiler) {
    static const char *const texts[] = {
        "Linear(128,64) @ 32x128",
        "Linear(4,3) @ 7x5x4",
        "Linear(13,13) Sequential(Tanh Sequential(Linear(13,7) GELU)) Dropout(0.5) @ 5x13",
        "Conv2d(3,6,3,padding=1) Sigmoid AvgPool2d(2) Flatten Linear(96,5) @ 3x3x8x8",
        "Conv2d(4,6,3,stride=2,groups=2) ReLU MaxPool2d(2) @ 2x4x13x13",
    };
    ModelCase model;
    ModelCounts counts;
    CaseRun run = {0};
    int64_t flops;
    Traffic traffic;
    ck_assert_int_eq(model_case_begin(&model, texts[_i], &run), STATUS_OK);
    ck_assert_int_eq(model_case_count(&model, &counts), STATUS_OK);
    ck_assert_int_eq(reference_count_flops(model.model, model.input, &flops), STATUS_OK);
    ck_assert_int_eq(reference_count_bytes(model.model, model.input, &traffic), STATUS_OK);
    ck_assert_int_eq(flops, counts.flops);
    ck_assert_int_eq(traffic.bytes_read, counts.bytes_read);
    ck_assert_int_eq(traffic.bytes_written, counts.bytes_written);
    Shape wrong = SHAPE(2, 99);
    ck_assert_int_eq(reference_count_flops(model.model, wrong, &flops), STATUS_SHAPE);
    ck_assert(!error_pending());
    ck_assert_int_eq(model_case_end(&model, STATUS_OK), STATUS_OK);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {{points_add_up, EXERCISES},
                                 {solution_is_right_on_every_seed, EXERCISES},
                                 {skeleton_scores_nothing, EXERCISES},
                                 {mutant_is_recognised, EXERCISES * MOST_MUTANTS},
                                 {references_agree_with_the_profiler, 5},
                                 {NULL, 0}};
    return harness_main("exercises_profile", tests);
}
