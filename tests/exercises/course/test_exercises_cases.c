// test_exercises_cases.c -- the cases of every exercise, without a student: points, needs, memory
// that fails while they are made, the numbers of the course's page, and references that agree with
// the profiler. The self-test tests solutions, skeletons and mutants.
#include <stdlib.h>
#include <string.h>

#include "exercises/course/exercise.h"
#include "exercises/course/model_case.h"
#include "exercises/support/reference.h"
#include "tensor/memory.h"
#include "tests/helpers/harness.h"

enum { EXERCISES = 12 };

static const Exercise *asked(int index) {
    if (index >= exercise_count) test_skip("there is no such exercise");
    return exercises[index];
}

START_TEST(points_add_up_and_needed_cases_exist) {
    const Exercise *exercise = asked(_i);
    int points = 0;
    for (int c = 0; c < exercise->n_cases; c++) {
        const ExerciseCase *of = &exercise->cases[c];
        points += of->points;
        bool found = !of->needs;
        for (int i = 0; i < exercise->n_cases && !found; i++)
            found = strcmp(exercise->cases[i].name, of->needs) == 0;
        ck_assert_msg(found && of->runs >= 1, "%s", of->name);
    }
    ck_assert_int_eq(points, exercise->points);
}
END_TEST

// Making a run fails at each of its allocations in turn, and succeeds after the last. A run with
// thousands of them repeats itself layer by layer, so then every 13th is enough, which is a
// different one in each layer.
enum { EVERY_REQUEST = 1500, STRIDE = 13 };
START_TEST(cases_survive_failing_memory) {
    const Exercise *exercise = asked(_i);
    static CaseRun run;
    for (int i = 0; i < exercise->n_cases; i++) {
        for (uint64_t nth = 1;; nth += nth < EVERY_REQUEST ? 1 : STRIDE) {
            memory_fail_at(nth);
            Status status =
                exercise_run_make(exercise, &exercise->cases[i],
                                  (DrawKey){.secret = "", .student = ""}, 0, NULL, &run);
            memory_fail_at(0);
            ck_assert_msg(status == error_status(), "%s, request %d: %d, pending %d",
                          exercise->cases[i].name, (int)nth, (int)status, (int)error_status());
            if (status == STATUS_OK) break;
            ck_assert_int_eq(status, STATUS_OUT_OF_MEMORY);
            error_clear();
        }
        ck_assert_int_gt(run.n_values + (run.status != STATUS_OK), 0);
    }
}
END_TEST

// Number of seeds: fewer for exercises without a scene, since nothing can be left in it.
static int seeds_of(const Exercise *exercise, const ExerciseCase *of) {
    static CaseRun run;
    DrawKey key = {.secret = "", .student = ""};
    ck_assert_int_eq(exercise_run_make(exercise, of, key, 0, NULL, &run), STATUS_OK);
    return run.scene[0] ? 60 : 12;
}

// A scene is complete: nothing of a rejected draw is left in it.
START_TEST(a_scene_says_each_thing_once) {
    static const char *const keys[] = {" resolution=", " base=", " launch=", " t0=", " kernel="};
    const Exercise *exercise = asked(_i);
    static CaseRun run;
    for (int i = 0; i < exercise->n_cases; i++) {
        int seeds = seeds_of(exercise, &exercise->cases[i]);
        for (int seed = 0; seed < seeds * exercise->cases[i].runs; seed++) {
            DrawKey key = {.secret = "", .student = "", .seed = (uint64_t)(seed % seeds)};
            Status status =
                exercise_run_make(exercise, &exercise->cases[i], key, seed / seeds, NULL, &run);
            ck_assert_int_eq(status, STATUS_OK);
            ck_assert_uint_lt(strlen(run.scene), sizeof run.scene - 1);
            ck_assert_uint_lt(strlen(run.input), sizeof run.input - 1);
            for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
                const char *first = strstr(run.scene, keys[k]);
                ck_assert_msg(!first || !strstr(first + 1, keys[k]), "%s, seed %d: %s",
                              exercise->cases[i].name, seed, run.scene);
            }
        }
    }
}
END_TEST

// The worker's input has nothing that only the grader may know.
START_TEST(a_worker_is_told_no_times) {
    static const char *const secrets[] = {"base=",   "jitter=",  "outlier",   "kernel=", "latency=",
                                          "record=", "wake_up=", "backward=", "loss=",   "t0="};
    const Exercise *exercise = asked(_i);
    static CaseRun run;
    for (int i = 0; i < exercise->n_cases; i++) {
        Status status = exercise_run_make(exercise, &exercise->cases[i],
                                          (DrawKey){.secret = "", .student = ""}, 0, NULL, &run);
        ck_assert_int_eq(status, STATUS_OK);
        for (size_t k = 0; k < sizeof secrets / sizeof secrets[0]; k++)
            ck_assert_msg(!strstr(run.input, secrets[k]), "%s: %s", exercise->cases[i].name,
                          run.input);
    }
}
END_TEST

// The answers that students are told are right equal the profiler's for the same model.
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
    const HarnessTest tests[] = {{points_add_up_and_needed_cases_exist, EXERCISES},
                                 {cases_survive_failing_memory, EXERCISES},
                                 {a_scene_says_each_thing_once, EXERCISES},
                                 {a_worker_is_told_no_times, EXERCISES},
                                 {references_agree_with_the_profiler, 5},
                                 {NULL, 0}};
    return harness_main("exercises_cases", tests);
}
