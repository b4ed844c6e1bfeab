// result_file.c -- result.json as a Result; the states are the words of grade.h. What a student
// reads about a case is in results.json (Gradescope's), whose tests are the same cases in order.
#include "exercises/instructor/result_file.h"

#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "tensor/memory.h"

static json_t *load(const char *folder, const char *name) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%.4000s/%s", folder, name);
    json_error_t error;
    json_t *document = json_load_file(path, 0, &error);
    if (document == NULL) {
        error_set(STATUS_IO, "%.300s: line %d: %.100s. HINT: grade it again", path, error.line,
                  error.text);
    }
    return document;
}

static int whole(const json_t *object, const char *key) {
    return (int)json_integer_value(json_object_get(object, key));
}

static void copy_text(const json_t *object, const char *key, char text[RESULT_NAME]) {
    const char *value = json_string_value(json_object_get(object, key));
    snprintf(text, RESULT_NAME, "%s", value ? value : "");
}

static bool find_state(const json_t *object, CaseState *state) {
    const char *word = json_string_value(json_object_get(object, "state"));
    for (int i = 0; word && i < CASE_STATE_COUNT; i++) {
        *state = (CaseState)i;
        if (strcmp(case_state_word(*state), word) == 0) return true;
    }
    return false;
}

static bool take_case(const json_t *exercise, const json_t *object, ResultCase *one) {
    char number[RESULT_NAME], name[RESULT_NAME];
    copy_text(exercise, "number", number);
    copy_text(exercise, "name", name);
    snprintf(one->exercise, RESULT_NAME, "%.10s %.50s", number, name);
    copy_text(object, "name", one->name);
    copy_text(object, "mistake", one->mistake);
    one->points = whole(object, "points");
    one->most = whole(object, "most_points");
    one->hidden = json_is_true(json_object_get(object, "hidden"));
    one->stretch = json_is_true(json_object_get(exercise, "stretch"));
    return find_state(object, &one->state) && one->name[0] != '\0' && number[0] != '\0';
}

static size_t count_cases(const json_t *graded) {
    size_t count = 0, i;
    json_t *exercise;
    json_array_foreach(graded, i, exercise) {
        count += json_array_size(json_object_get(exercise, "cases"));
    }
    return count;
}

static bool take_cases(const json_t *graded, Result *result) {
    size_t i, k;
    json_t *exercise, *object;
    bool sound = true;
    json_array_foreach(graded, i, exercise) {
        json_array_foreach(json_object_get(exercise, "cases"), k, object) {
            sound = take_case(exercise, object, &result->cases[result->n_cases++]) && sound;
        }
    }
    return sound;
}

// Texts are for people: without them a result is no worse.
static void take_outputs(const char *folder, Result *result) {
    json_t *document = load(folder, "results.json");
    const json_t *tests = json_object_get(document, "tests");
    error_clear();
    for (int i = 0; i < result->n_cases && (int)json_array_size(tests) == result->n_cases; i++) {
        const json_t *test = json_array_get(tests, (size_t)i);
        const char *output = json_string_value(json_object_get(test, "output"));
        if (output) result->cases[i].output = memory_copy_string(output);
    }
    json_decref(document);
}

Status result_read(const char *folder, Result *result) {
    *result = (Result){.n_cases = 0};
    json_t *document = load(folder, "result.json");
    if (document == NULL) return error_status();
    const json_t *graded = json_object_get(document, "exercises");
    copy_text(document, "student", result->student);
    result->points = whole(document, "points");
    result->most = whole(document, "most_points");
    result->stretch_points = whole(document, "stretch_points");
    result->cases = memory_new((count_cases(graded) + 1) * sizeof *result->cases);
    Status status = result->cases ? STATUS_OK : error_status();
    if (!status && (!json_is_array(graded) || !take_cases(graded, result))) {
        status =
            error_set(STATUS_FORMAT, "%.300s/result.json: no result. HINT: grade it again", folder);
    }
    json_decref(document);
    if (!status) take_outputs(folder, result);
    return status ? status : error_status();
}
