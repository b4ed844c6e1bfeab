// test_scene_models.c -- exercises 09 and 10: the runs common to all students, and the scene of a
// model that takes time. The self-test tests solutions and mutants.
#include <stdio.h>
#include <string.h>

#include "exercises/course/scene.h"
#include "exercises/course/timed_case.h"
#include "exercises/support/remote.h"
#include "tests/helpers/harness.h"

extern const Exercise exercise_09, exercise_10;
static const Exercise *const profiled[] = {&exercise_09, &exercise_10};
enum { EXERCISES = sizeof profiled / sizeof profiled[0] };

// The first run's mistake costs every student the same.
START_TEST(first_runs_are_those_of_everybody) {
    static const DrawKey one = {"secret", "somebody", 0, NULL}, other = {"", "", 7, NULL};
    static CaseRun left, right;
    for (int i = 0; i < profiled[_i]->n_cases; i++) {
        const ExerciseCase *definition = &profiled[_i]->cases[i];
        ck_assert_int_eq(exercise_run_make(profiled[_i], definition, one, 0, NULL, &left), 0);
        ck_assert_int_eq(exercise_run_make(profiled[_i], definition, other, 0, NULL, &right), 0);
        ck_assert_str_eq(left.input, right.input);
        ck_assert_str_eq(left.scene, right.scene);
    }
}
END_TEST

START_TEST(later_runs_are_drawn) {
    static const DrawKey one = {"secret", "somebody", 0, NULL},
                         other = {"secret", "somebody else", 0, NULL};
    static CaseRun left, right;
    int drawn = 0;
    for (int i = 0; i < profiled[_i]->n_cases; i++) {
        const ExerciseCase *definition = &profiled[_i]->cases[i];
        int last = definition->runs - 1;
        ck_assert_int_eq(exercise_run_make(profiled[_i], definition, one, last, NULL, &left), 0);
        ck_assert_int_eq(exercise_run_make(profiled[_i], definition, other, last, NULL, &right), 0);
        drawn += strcmp(left.input, right.input) != 0;
    }
    ck_assert_int_ge(drawn, 3);
}
END_TEST

// ---- the scene ---------------------------------------------------------------------------------
static int64_t clock_us(Scene *scene, clockid_t clock) {
    int64_t answer[8] = {0}, id = clock;
    ck_assert(scene_call(scene, CALL_CLOCK_READ, &id, 1, answer));
    return answer[1] * 1000000 + answer[2] / 1000;
}

static Scene *timed_scene(void) {
    static const CaseRun run = {
        .input = "model=Sequential(Linear(4,3) ReLU) Linear(3,2) @ 5x4",
        .scene = "resolution=1 t0=160 t1=80 t2=320 cold=1000 container=8 backward=400 "
                 "optimizer=240 loss=40 zero=16"};
    Scene *scene = scene_new(&run);
    ck_assert_ptr_nonnull(scene);
    return scene;
}

static int64_t takes(Scene *scene, RemoteNote note, int64_t subject, clockid_t clock) {
    int64_t start = clock_us(scene, clock);
    ck_assert(scene_note(scene, note, subject, 1));
    return clock_us(scene, clock) - start;
}

START_TEST(each_layer_is_cold_once) {
    Scene *scene = timed_scene();
    ck_assert_int_eq(takes(scene, NOTE_FORWARD, 2, CLOCK_MONOTONIC), 1160); // the first Linear
    ck_assert_int_eq(takes(scene, NOTE_FORWARD, 0, CLOCK_MONOTONIC), 576 + 4000);
    ck_assert_int_eq(takes(scene, NOTE_FORWARD, 0, CLOCK_MONOTONIC), 576);
    ck_assert_int_eq(takes(scene, NOTE_FORWARD, 1, CLOCK_MONOTONIC), 248);
    ck_assert_int_eq(takes(scene, NOTE_FORWARD, 4, CLOCK_PROCESS_CPUTIME_ID), 280);
    ck_assert_int_eq(scene_recorded(scene, RECORDED_FORWARDS), 2);
    ck_assert_int_eq(scene_recorded(scene, RECORDED_ROWS), 3);
    scene_free(scene);
}
END_TEST

START_TEST(every_part_of_a_step_takes_time) {
    Scene *scene = timed_scene();
    ck_assert_int_eq(takes(scene, NOTE_BACKWARD, 0, CLOCK_MONOTONIC), 1400);
    ck_assert_int_eq(takes(scene, NOTE_ZERO_GRAD, 0, CLOCK_MONOTONIC), 16);
    ck_assert_int_eq(takes(scene, NOTE_FORWARD, 0, CLOCK_MONOTONIC), 576 + 5000);
    ck_assert_int_eq(takes(scene, NOTE_LOSS, 0, CLOCK_MONOTONIC), 40);
    ck_assert_int_eq(takes(scene, NOTE_BACKWARD, 0, CLOCK_MONOTONIC), 400);
    ck_assert_int_eq(takes(scene, NOTE_OPTIMIZER, 0, CLOCK_MONOTONIC), 1240);
    ck_assert_int_eq(takes(scene, NOTE_OPTIMIZER, 0, CLOCK_MONOTONIC), 240);
    ck_assert_int_eq(scene_recorded(scene, RECORDED_BACKWARDS), 2);
    ck_assert_int_eq(scene_recorded(scene, RECORDED_BACKWARDS_UNZEROED), 1);
    scene_note(scene, NOTE_FORWARD, 0, 1);
    scene_note(scene, NOTE_ZERO_GRAD, 0, 1); // too late: it must begin the step
    scene_note(scene, NOTE_BACKWARD, 0, 1);
    ck_assert_int_eq(scene_recorded(scene, RECORDED_BACKWARDS_UNZEROED), 2);
    scene_free(scene);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {{first_runs_are_those_of_everybody, EXERCISES},
                                 {later_runs_are_drawn, EXERCISES},
                                 {each_layer_is_cold_once, 1},
                                 {every_part_of_a_step_takes_time, 1},
                                 {NULL, 0}};
    return harness_main("scene_models", tests);
}
