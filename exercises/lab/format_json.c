// format_json.c -- formats with JSON in them: result.json, always in the same order, and the times;
// Gradescope's results.json; Autolab's table for people with the scores in the last line.
#include <string.h>

#include "exercises/grader/judge.h"
#include "exercises/lab/formats.h"
#include "profiler/base/json_writer.h"

enum { RESULT_VERSION = 2 };

static void put_text(JsonWriter *json, const char *key, const char *text) {
    json_writer_string(json_writer_key(json, key), text);
}
static void put_count(JsonWriter *json, const char *key, int64_t count) {
    json_writer_int64(json_writer_key(json, key), count);
}
static void put_flag(JsonWriter *json, const char *key, bool flag) {
    json_writer_bool(json_writer_key(json, key), flag);
}

// ---- result.json: a case ------------------------------------------------------------------------
// Writes values as text, because readers of JSON may keep only 53 bits, and know no NaN or words.
static void put_values(JsonWriter *json, const CaseResult *result) {
    char text[VALUE_TEXT];
    const CaseRun *run = result->asked;
    if (result->sealed) { // only the student's answer
        if (result->value < 0) return;
        const ExpectedValue *own = &run->values[result->value];
        put_text(json, "value", own->name);
        put_text(json, "got", value_text(own, result->got, text));
        return;
    }
    if (result->value < 0) {
        put_text(json, "expected", status_name(run->status));
        put_text(json, "got", status_name(result->status));
        return;
    }
    const ExpectedValue *expected = &run->values[result->value];
    put_text(json, "value", expected->name);
    put_text(json, "formula", run->formula);
    put_text(json, "expected", value_text(expected, expected->value, text));
    put_text(json, "got", value_text(expected, result->got, text));
}

static void put_open(JsonWriter *json, const CaseResult *result) {
    put_text(json, "detail", result->detail);
    if (result->output) put_text(json, "printed", result->output);
    if (!result->asked) return;
    put_count(json, "run", result->run);
    put_text(json, "shown", result->asked->shown);
    put_text(json, "asked", result->asked->asked);
    if (result->state == CASE_WRONG || result->state == CASE_PRACTICE) put_values(json, result);
}

static void put_case(JsonWriter *json, const CaseResult *result) {
    const ExerciseCase *definition = result->definition;
    json_writer_begin_object(json);
    put_text(json, "name", definition->name);
    put_text(json, "state", case_state_word(result->state));
    put_count(json, "points", result->points);
    put_count(json, "most_points", definition->points);
    put_flag(json, "hidden", definition->hidden);
    put_text(json, "mistake", result->mistake);
    if (result->state != CASE_PASSED && !definition->hidden) put_open(json, result);
    json_writer_end_object(json);
}

// ---- result.json: an exercise, a grade ----------------------------------------------------------
static void put_exercise(JsonWriter *json, const ExerciseResult *result) {
    const Exercise *exercise = result->exercise;
    json_writer_begin_object(json);
    put_text(json, "number", exercise->number);
    put_text(json, "name", exercise->name);
    put_text(json, "title", exercise->title);
    put_flag(json, "stretch", exercise->stretch);
    put_count(json, "points", result->points);
    put_count(json, "most_points", result->most_points);
    put_count(json, "line", result->lines[0]);
    put_text(json, "compiler", result->compiler);
    json_writer_begin_array(json_writer_key(json, "cases"));
    for (int i = 0; i < result->n_cases; i++) put_case(json, &result->cases[i]);
    json_writer_end_array(json);
    json_writer_end_object(json);
}

static void put_layers(JsonWriter *json, const GradeResult *result) {
    char text[96];
    confine_layers_text(result->layers, text, sizeof text - 16);
    if (result->disposable) strcat(text, "; disposable");
    put_text(json, "contained", text);
}

static Status write_result(const char *path, const GradeResult *result, bool complete) {
    JsonWriter *json = json_file_open(path);
    if (!json) return error_status();
    json_writer_begin_object(json);
    put_text(json, "format", "ridgepoint.result");
    put_count(json, "version", RESULT_VERSION);
    put_flag(json, "complete", complete && !result->machine_failed);
    put_text(json, "student", result->student);
    json_writer_uint64(json_writer_key(json, "seed"), result->seed);
    put_count(json, "points", result->points);
    put_count(json, "most_points", result->most_points);
    put_count(json, "stretch_points", result->stretch_points);
    put_count(json, "passed", result->passed);
    put_count(json, "failed", result->failed);
    put_layers(json, result);
    json_writer_begin_array(json_writer_key(json, "exercises"));
    for (int i = 0; i < result->n_exercises; i++) put_exercise(json, &result->exercises[i]);
    json_writer_end_array(json);
    json_writer_end_object(json);
    return json_writer_close(json);
}

Status times_json_write(const char *path, const GradeResult *result) {
    JsonWriter *json = json_file_open(path);
    if (!json) return error_status();
    json_writer_begin_object(json);
    put_text(json, "format", "ridgepoint.times");
    put_count(json, "version", 1);
    json_writer_double(json_writer_key(json, "seconds"), result->seconds);
    json_writer_begin_array(json_writer_key(json, "exercises"));
    for (int i = 0; i < result->n_exercises; i++) {
        json_writer_begin_record(json);
        put_text(json, "number", result->exercises[i].exercise->number);
        json_writer_double(json_writer_key(json, "seconds"), result->exercises[i].seconds);
        json_writer_end_object(json);
    }
    json_writer_end_array(json);
    json_writer_end_object(json);
    return json_writer_close(json);
}

Status result_json_write(const char *path, const GradeResult *result) {
    return write_result(path, result, true);
}

Status result_json_begin(const char *path, const GradeOptions *options) {
    GradeResult result;
    Status status = grade_nothing(options, &result);
    if (!status) status = write_result(path, &result, false);
    grade_free(&result);
    return status;
}

// ---- Gradescope --------------------------------------------------------------------------------
static void put_test(JsonWriter *json, const ResultCase *of_case, int number) {
    char name[2 * RESULT_NAME + 4], count[16];
    snprintf(name, sizeof name, "%s: %s", of_case->exercise, of_case->name);
    snprintf(count, sizeof count, "%d", number);
    json_writer_begin_object(json);
    json_writer_string(json_writer_key(json, "name"), name);
    json_writer_string(json_writer_key(json, "number"), count);
    json_writer_int64(json_writer_key(json, "score"), of_case->points);
    json_writer_int64(json_writer_key(json, "max_score"), of_case->most);
    json_writer_string(json_writer_key(json, "status"),
                       of_case->state == CASE_PASSED ? "passed" : "failed");
    json_writer_string(json_writer_key(json, "output"), of_case->output);
    json_writer_string(json_writer_key(json, "output_format"), "text");
    json_writer_string(json_writer_key(json, "visibility"), "visible");
    json_writer_end_object(json);
}

static void put_leaderboard(JsonWriter *json, const char *name, int value) {
    json_writer_begin_record(json);
    json_writer_string(json_writer_key(json, "name"), name);
    json_writer_int64(json_writer_key(json, "value"), value);
    json_writer_end_object(json);
}

void format_gradescope(const Result *result, JsonWriter *json) {
    json_writer_begin_object(json);
    json_writer_int64(json_writer_key(json, "score"), result->points + result->stretch_points);
    json_writer_double(json_writer_key(json, "execution_time"), result->seconds);
    json_writer_string(json_writer_key(json, "stdout_visibility"), "hidden");
    json_writer_begin_array(json_writer_key(json, "tests"));
    for (int i = 0; i < result->n_cases; i++) put_test(json, &result->cases[i], i + 1);
    json_writer_end_array(json);
    json_writer_begin_array(json_writer_key(json, "leaderboard"));
    put_leaderboard(json, "Points", result->points);
    put_leaderboard(json, "Stretch", result->stretch_points);
    json_writer_end_array(json);
    json_writer_end_object(json);
}

// ---- Autolab ------------------------------------------------------------------------------------
typedef struct Sum { // sums over the successive cases of one exercise
    const char *exercise;
    int cases, passed, points, most;
} Sum;

static Sum sum_from(const Result *result, int first) {
    Sum sum = {.exercise = result->cases[first].exercise};
    for (int i = first; i < result->n_cases; i++) {
        const ResultCase *of_case = &result->cases[i];
        if (strcmp(of_case->exercise, sum.exercise) != 0) break;
        sum.cases++;
        sum.passed += of_case->state == CASE_PASSED;
        sum.points += of_case->points;
        sum.most += of_case->most;
    }
    return sum;
}

// Writes "02_count_flops": letters, digits and underscores, no colon.
static void put_key(WholeFile *file, const char *exercise) {
    for (const char *c = exercise; *c; c++) {
        bool plain =
            (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9');
        whole_file_print(file, "%c", plain ? *c : '_');
    }
}

void format_autolab(const Result *result, WholeFile *file) {
    for (int i = 0; i < result->n_cases;) {
        Sum sum = sum_from(result, i);
        whole_file_print(file, "%-28s %3d/%-3d  %d of %d cases\n", sum.exercise, sum.points,
                         sum.most, sum.passed, sum.cases);
        i += sum.cases;
    }
    whole_file_print(file, "{\"scores\": {");
    for (int i = 0; i < result->n_cases;) {
        Sum sum = sum_from(result, i);
        whole_file_print(file, "%s\"", i > 0 ? ", " : "");
        put_key(file, sum.exercise);
        whole_file_print(file, "\": %d", sum.points);
        i += sum.cases;
    }
    whole_file_print(file, "}}\n");
}
