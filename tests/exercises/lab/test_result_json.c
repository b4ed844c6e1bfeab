// test_result_json.c -- result.json: the same bytes for the same grade, however long it took,
// nothing of hidden cases, a valid zero before there is a grade, and a file that is never half
// written.
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exercises/course/text_file.h"
#include "exercises/lab/formats.h"
#include "tensor/memory.h"
#include "tests/exercises/sample/sample_exercise.h"
#include "tests/helpers/harness.h"

// ---- a grade by hand ---------------------------------------------------------------------------
typedef struct Sample {
    CaseRun run;
    CaseResult cases[SAMPLE_CASES];
    ExerciseResult exercise;
    GradeResult grade;
    char path[64];
} Sample;

static void sample_fill(Sample *s) {
    *s = (Sample){.path = "/tmp/ridgepoint-result-XXXXXX"};
    int file = mkstemp(s->path);
    ck_assert_int_ge(file, 0);
    close(file);
    snprintf(s->run.shown, CASE_LINE, "n = SECRET");
    run_expect_integer(&s->run, "twice", INT64_MAX);
    for (int i = 0; i < SAMPLE_CASES; i++)
        s->cases[i] = (CaseResult){.definition = &sample_exercise.cases[i],
                                   .state = CASE_WRONG,
                                   .asked = &s->run,
                                   .got.integer = 4321,
                                   .mistake = "not_doubled"};
    s->cases[SAMPLE_HAND].state = CASE_PASSED;
    s->cases[SAMPLE_HAND].points = 1;
    s->cases[SAMPLE_ERROR].state = CASE_CRASHED;
    snprintf(s->cases[SAMPLE_ERROR].detail, CASE_LINE, "signal 11 \x01\xff \"quoted\"");
    s->exercise = (ExerciseResult){.exercise = &sample_exercise,
                                   .cases = s->cases,
                                   .n_cases = SAMPLE_CASES,
                                   .points = 1,
                                   .most_points = 6,
                                   .seconds = 0.25};
    s->grade = (GradeResult){.student = "ada",
                             .seed = UINT64_MAX,
                             .layers = LAYER_LIMITS | LAYER_FILES,
                             .exercises = &s->exercise,
                             .n_exercises = 1,
                             .points = 1,
                             .most_points = 6,
                             .passed = 1,
                             .failed = 4,
                             .seconds = 0.5};
}

static char *text_of(const Sample *s) {
    char *text = file_read(NULL, s->path, 1 << 20, NULL);
    ck_assert_msg(text != NULL, "%s", error_message());
    return text;
}

static char *written(const Sample *s) {
    ck_assert_int_eq(result_json_write(s->path, &s->grade), STATUS_OK);
    return text_of(s);
}

static json_t *parsed(const char *text) {
    json_error_t error;
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, &error);
    ck_assert_msg(root != NULL, "line %d: %s", error.line, error.text);
    return root;
}

static json_t *case_at(json_t *root, int index) {
    json_t *exercise = json_array_get(json_object_get(root, "exercises"), 0);
    json_t *one = json_array_get(json_object_get(exercise, "cases"), (size_t)index);
    ck_assert_ptr_nonnull(one);
    return one;
}

static const char *member(json_t *object, const char *key) {
    return json_string_value(json_object_get(object, key));
}

// ---- contents ----------------------------------------------------------------------------------
START_TEST(a_result_says_what_went_wrong) {
    Sample s;
    sample_fill(&s);
    char *text = written(&s);
    json_t *root = parsed(text);
    json_t *wrong = case_at(root, SAMPLE_VALUES), *crashed = case_at(root, SAMPLE_ERROR);
    ck_assert_str_eq(member(wrong, "state"), "wrong");
    ck_assert_str_eq(member(wrong, "expected"), "9223372036854775807");
    ck_assert_str_eq(member(wrong, "got"), "4321");
    ck_assert_str_eq(member(wrong, "mistake"), "not_doubled");
    ck_assert_str_eq(member(crashed, "state"), "crashed");
    ck_assert_ptr_nonnull(strstr(member(crashed, "detail"), "\"quoted\""));
    ck_assert_ptr_null(member(case_at(root, SAMPLE_HAND), "expected")); // it passed
    ck_assert_str_eq(member(root, "contained"), "limits, files");
    ck_assert_ptr_nonnull(strstr(text, "\"seed\": 18446744073709551615"));
    ck_assert(json_is_true(json_object_get(root, "complete")));
    json_decref(root);
    memory_free(text);
    unlink(s.path);
}
END_TEST

START_TEST(a_hidden_case_shows_its_misconception_and_no_more) {
    Sample s;
    sample_fill(&s);
    char *text = written(&s);
    json_t *root = parsed(text), *hidden = case_at(root, SAMPLE_HIDDEN);
    static const char *const shown[] = {"name",        "state",  "points",
                                        "most_points", "hidden", "mistake"};
    ck_assert_uint_eq(json_object_size(hidden), 6);
    for (int i = 0; i < 6; i++) ck_assert_ptr_nonnull(json_object_get(hidden, shown[i]));
    ck_assert_str_eq(member(hidden, "mistake"), "not_doubled");
    json_decref(root);
    memory_free(text);
    unlink(s.path);
}
END_TEST

START_TEST(how_long_it_took_is_in_a_file_of_its_own) {
    Sample s;
    sample_fill(&s);
    char *first = written(&s);
    s.exercise.seconds = 7.0;
    s.grade.seconds = 9.0;
    char *second = written(&s);
    ck_assert_str_eq(first, second);
    ck_assert_int_eq(times_json_write(s.path, &s.grade), STATUS_OK);
    char *times = text_of(&s);
    json_t *root = parsed(times);
    ck_assert(json_number_value(json_object_get(root, "seconds")) == 9.0);
    json_t *exercise = json_array_get(json_object_get(root, "exercises"), 0);
    ck_assert_str_eq(member(exercise, "number"), "90");
    ck_assert(json_number_value(json_object_get(exercise, "seconds")) == 7.0);
    json_decref(root);
    memory_free(first);
    memory_free(second);
    memory_free(times);
    unlink(s.path);
}
END_TEST

// ---- files -------------------------------------------------------------------------------------
START_TEST(before_a_grade_there_is_a_zero) {
    Sample s;
    Submission nothing = {.folder = "/nonexistent"};
    sample_fill(&s);
    GradeOptions options = submission_options(&nothing);
    ck_assert_int_eq(result_json_begin(s.path, &options), STATUS_OK);
    char *text = text_of(&s);
    json_t *root = parsed(text);
    ck_assert(json_is_false(json_object_get(root, "complete")));
    ck_assert(json_number_value(json_object_get(root, "points")) == 0.0);
    ck_assert(json_number_value(json_object_get(root, "most_points")) == 6.0);
    ck_assert_str_eq(member(case_at(root, SAMPLE_VALUES), "state"), "grader_failed");
    json_decref(root);
    memory_free(text);
    unlink(s.path);
}
END_TEST

START_TEST(a_result_that_cannot_be_written_leaves_the_old_one) {
    Sample s;
    sample_fill(&s);
    char *before = written(&s);
    s.grade.points = 5;
    for (uint64_t nth = 1; nth < 4; nth++) {
        memory_fail_at(nth);
        Status status = result_json_write(s.path, &s.grade);
        memory_fail_at(0);
        if (status == STATUS_OK) break; // there are fewer allocations
        ck_assert_int_eq(status, STATUS_OUT_OF_MEMORY);
        error_clear();
        char *after = text_of(&s);
        ck_assert_str_eq(before, after);
        memory_free(after);
    }
    ck_assert_int_eq(result_json_write("/nonexistent/result.json", &s.grade), STATUS_IO);
    error_clear();
    memory_free(before);
    unlink(s.path);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {a_result_says_what_went_wrong, 0},
        {a_hidden_case_shows_its_misconception_and_no_more, 0},
        {how_long_it_took_is_in_a_file_of_its_own, 0},
        {before_a_grade_there_is_a_zero, 0},
        {a_result_that_cannot_be_written_leaves_the_old_one, 0},
        {NULL, 0},
    };
    return harness_main("result_json", tests);
}
