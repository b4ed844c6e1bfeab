// result_json.c -- writes a grade as JSON, member by member, always in the same order.
#include "exercises/grader/result_json.h"

#include "exercises/grader/judge.h"
#include "profiler/files/json_writer.h"

enum { RESULT_VERSION = 1 };

static void put_text(JsonWriter *json, const char *key, const char *text) {
    json_writer_string(json_writer_key(json, key), text);
}
static void put_count(JsonWriter *json, const char *key, int64_t count) {
    json_writer_int64(json_writer_key(json, key), count);
}
static void put_flag(JsonWriter *json, const char *key, bool flag) {
    json_writer_bool(json_writer_key(json, key), flag);
}

// ---- a case ------------------------------------------------------------------------------------
// Values as text: a reader of JSON may keep 53 bits only, and knows neither NaN nor words.
static void put_values(JsonWriter *json, const CaseResult *result) {
    char text[VALUE_TEXT];
    const CaseRun *run = result->asked;
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
    if (result->state == CASE_WRONG) put_values(json, result);
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

// ---- an exercise, a grade ----------------------------------------------------------------------
static void put_exercise(JsonWriter *json, const ExerciseResult *result) {
    const Exercise *exercise = result->exercise;
    json_writer_begin_object(json);
    put_text(json, "number", exercise->number);
    put_text(json, "name", exercise->name);
    put_text(json, "title", exercise->title);
    put_flag(json, "stretch", exercise->stretch);
    put_count(json, "points", result->points);
    put_count(json, "most_points", result->most_points);
    put_count(json, "line", result->line);
    put_text(json, "compiler", result->compiler);
    json_writer_begin_array(json_writer_key(json, "cases"));
    for (int i = 0; i < result->n_cases; i++) put_case(json, &result->cases[i]);
    json_writer_end_array(json);
    json_writer_end_object(json);
}

static void put_layers(JsonWriter *json, unsigned layers) {
    char text[96];
    put_text(json, "contained", contain_layers_text(layers, text, sizeof text));
}

// What differs from grade to grade of the same submission stands here and nowhere else.
static void put_times(JsonWriter *json, const GradeResult *result) {
    json_writer_begin_object(json_writer_key(json, "times"));
    json_writer_double(json_writer_key(json, "seconds"), result->seconds);
    json_writer_begin_array(json_writer_key(json, "exercises"));
    for (int i = 0; i < result->n_exercises; i++)
        json_writer_double(json, result->exercises[i].seconds);
    json_writer_end_array(json);
    json_writer_end_object(json);
}

static Status write_result(const char *path, const GradeResult *result, bool complete) {
    JsonWriter *json = json_file_open(path);
    if (!json) return error_status();
    json_writer_begin_object(json);
    put_text(json, "format", "ridgepoint.result");
    put_count(json, "version", RESULT_VERSION);
    put_flag(json, "complete", complete);
    put_text(json, "student", result->student);
    json_writer_uint64(json_writer_key(json, "seed"), result->seed);
    put_count(json, "points", result->points);
    put_count(json, "most_points", result->most_points);
    put_count(json, "stretch_points", result->stretch_points);
    put_count(json, "passed", result->passed);
    put_count(json, "failed", result->failed);
    put_layers(json, result->layers);
    json_writer_begin_array(json_writer_key(json, "exercises"));
    for (int i = 0; i < result->n_exercises; i++) put_exercise(json, &result->exercises[i]);
    json_writer_end_array(json);
    put_times(json, result);
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
