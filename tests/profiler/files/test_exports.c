// test_exports.c -- files for other programs: Google Benchmark's JSON, OpenMetrics. Every time and
// count of a planted profile, names with special characters, and a machine without room. CI opens
// such files with those programs' own readers (tests/tools/check_exports).
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profiler/files/exports.h"
#include "tensor/memory.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/harness.h"
#include "tests/helpers/work_folder.h"
#include "tests/profiler/compare/planted_profile.h"

static char path[80];

static char *text_of(void) { // the file's text; free it
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    char *text = calloc(1, 1 << 16);
    ck_assert_uint_lt(fread(text, 1, 1 << 16, file), 1 << 16);
    fclose(file);
    return text;
}

static void begin(void) {
    work_folder_begin();
    snprintf(path, sizeof path, "%s/file", work_folder);
}

// ---- Google Benchmark --------------------------------------------------------------------------
static json_t *benchmarks_of(const Profile *profile, json_t **document) {
    ck_assert_int_eq(gbench_write(profile, "it", path), STATUS_OK);
    *document = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
    ck_assert_ptr_nonnull(*document);
    return json_object_get(*document, "benchmarks");
}

static void expect_member(json_t *one, const char *key, json_t *value) {
    ck_assert_msg(json_equal(json_object_get(one, key), value), "%s", key);
    json_decref(value);
}

static void expect_runs(json_t *all, size_t from, const char *name, const Latency *latency) {
    for (int64_t run = 0; run < latency->across->count; run++) {
        json_t *one = json_array_get(all, from + (size_t)run);
        double time = 1e9 * latency->across->samples[run];
        expect_member(one, "name", json_string(name));
        expect_member(one, "run_name", json_string(name));
        expect_member(one, "run_type", json_string("iteration"));
        expect_member(one, "repetitions", json_integer(latency->across->count));
        expect_member(one, "repetition_index", json_integer(run));
        expect_member(one, "family_index", json_integer((json_int_t)(from / 5)));
        expect_member(one, "iterations", json_integer(10));
        expect_member(one, "real_time", json_real(time));
        expect_member(one, "cpu_time", json_real(time));
        expect_member(one, "time_unit", json_string("ns"));
    }
}

START_TEST(each_time_is_a_benchmark_and_each_process_a_repetition) {
    Profile profile = planted_profile(5, 1);
    json_t *document;
    begin();
    json_t *all = benchmarks_of(&profile, &document);
    ck_assert_uint_eq(json_array_size(all), 5 * (2 + 7)); // runs x (of the whole + of layers)
    expect_runs(all, 0, "step", &profile.totals[REPORT_STEP].latency);
    expect_runs(all, 5, "forward", &profile.totals[REPORT_FORWARD].latency);
    expect_runs(all, 10, "fc1/forward", &profile.layers[0].phase[REPORT_FORWARD].latency);
    expect_runs(all, 20, "fc1/optimizer", &profile.layers[0].phase[REPORT_OPTIMIZER].latency);
    expect_runs(all, 40, "fc2/backward", &profile.layers[2].phase[REPORT_BACKWARD].latency);
    ck_assert_str_eq(json_string_value(
                         json_object_get(json_object_get(document, "context"), "executable")),
                     "it");
    json_decref(document);
    profile_free(&profile);
    work_folder_end();
}
END_TEST

// Two benchmarks with one name would count as repetitions of one.
START_TEST(layers_that_are_called_twice_have_two_names) {
    Profile profile = planted_profile(1, 1);
    json_t *document;
    begin();
    for (int i = 0; i < 3; i++)
        snprintf(profile.layers[i].path, sizeof profile.layers[i].path, "tied");
    json_t *all = benchmarks_of(&profile, &document);
    const char *names[] = {"step",           "forward",        "tied/forward",    "tied/backward",
                           "tied/optimizer", "tied#2/forward", "tied#2/backward", "tied#3/forward",
                           "tied#3/backward"};
    ck_assert_uint_eq(json_array_size(all), 9);
    for (size_t i = 0; i < 9; i++)
        expect_member(json_array_get(all, i), "name", json_string(names[i]));
    json_decref(document);
    profile_free(&profile);
    work_folder_end();
}
END_TEST

// ---- OpenMetrics -------------------------------------------------------------------------------
#define OF "{model=\"planted\",device=\"\",batch=\"4\",threads=\"0\""

START_TEST(gauges_to_the_letter) {
    static const char *const parts[] = {
        "# TYPE ridgepoint info\n",
        "# TYPE ridgepoint_layer_seconds gauge\n# UNIT ridgepoint_layer_seconds seconds\n"
        "# HELP ridgepoint_layer_seconds Median time.\n",
        "ridgepoint_units_per_second" OF ",unit=\"samples\"} ",
        "ridgepoint_peak_bytes" OF "} 1000\n",
        "ridgepoint_parameters" OF "} 300\n",
        "ridgepoint_phase_flops" OF ",phase=\"step\"} 2010\n",
        "ridgepoint_layer_read_bytes" OF ",layer=\"fc2\",type=\"\",phase=\"backward\"} 64\n",
        "\n# EOF\n"};
    Profile profile = planted_profile(1, 1);
    begin();
    profile.totals[REPORT_STEP].latency.statistics.median = 0.25;
    ck_assert_int_eq(openmetrics_write(&profile, path), STATUS_OK);
    char *text = text_of();
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        ck_assert_msg(strstr(text, parts[i]) != NULL, "no %s in %s", parts[i], text);
    ck_assert_msg(strstr(text, "ridgepoint_phase_seconds" OF ",phase=\"step\"} 0.25\n") != NULL,
                  "%s", text);
    ck_assert_ptr_null(strstr(text, "nan"));
    ck_assert_ptr_null(strstr(text, "inference_seconds{")); // nothing inferred
    ck_assert_str_eq(text + strlen(text) - 6, "# EOF\n");
    free(text);
    profile_free(&profile);
    work_folder_end();
}
END_TEST

START_TEST(labels_are_text) {
    Profile profile = planted_profile(1, 1);
    begin();
    for (int i = 0; i < 2; i++)
        snprintf(profile.layers[i].path, sizeof profile.layers[i].path,
                 "a\"} 1\n# EOF\\\x1b\xff\xc3\xa9");
    ck_assert_int_eq(openmetrics_write(&profile, path), STATUS_OK);
    char *text = text_of();
    const char *label = ",layer=\"a\\\"} 1?# EOF\\\\??\xc3\xa9\",type=\"\",phase=\"forward\"} ";
    ck_assert_msg(strstr(text, label) != NULL, "%s", text);
    ck_assert_msg(strstr(text, "??\xc3\xa9#2\",type=") != NULL, "%s", text); // second call
    free(text);
    profile_free(&profile);
    work_folder_end();
}
END_TEST

// ---- both formats ------------------------------------------------------------------------------
// After a failure there is no file, not even a part of one.
START_TEST(every_request_for_memory_may_fail) {
    Profile profile = planted_profile(2, 1);
    begin();
    Status status = STATUS_OUT_OF_MEMORY;
    for (uint64_t nth = 1; status; nth++) {
        memory_fail_at(nth);
        status = _i ? openmetrics_write(&profile, path) : gbench_write(&profile, "it", path);
        memory_fail_at(0);
        ck_assert(status == STATUS_OK || status == STATUS_OUT_OF_MEMORY);
        ck_assert(status == STATUS_OK || access(path, F_OK) != 0);
        error_clear();
    }
    status = _i ? openmetrics_write(&profile, "/none/f") : gbench_write(&profile, "it", "/none/f");
    expect_error(STATUS_IO, "/none/f");
    profile_free(&profile);
    work_folder_end();
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {each_time_is_a_benchmark_and_each_process_a_repetition, 0},
        {layers_that_are_called_twice_have_two_names, 0},
        {gauges_to_the_letter, 0},
        {labels_are_text, 0},
        {every_request_for_memory_may_fail, 2},
        {NULL, 0},
    };
    return harness_main("exports", tests);
}
