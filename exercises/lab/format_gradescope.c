// format_gradescope.c -- results.json of Gradescope.
#include "exercises/lab/formats.h"
#include "profiler/files/json_writer.h"

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
