// test_formats.c -- each format of a result, read by a real tool that knows it: ordinary results,
// and names and texts that would break a careless writer.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exercises/lab/formats.h"
#include "tests/helpers/harness.h"

static char folder[] = "/tmp/test_formats-XXXXXX";

// ---- results -----------------------------------------------------------------------------------
#define HOSTILE                                                                                    \
    "=1+1 ]]> <b>\"x\" & 'y' \xff\xfe \033[31m \x01 , | `` # TODO \\ NaN\r\n\tend\xed\xa0\x80"

static ResultCase hostile_cases[] = {
    {.exercise = "02 count_flops", .name = "linear", .state = CASE_PASSED, .points = 3, .most = 3},
    {.exercise = "02 count_flops", .name = "conv", .state = CASE_WRONG, .most = 2},
    {.exercise = "02 count_flops", .name = "deep", .state = CASE_CRASHED, .most = 2},
    {.exercise = "03 count_bytes", .name = "relu", .state = CASE_NOT_IMPLEMENTED, .most = 4},
    {.exercise = "03 count_bytes", .name = "all", .state = CASE_TIMED_OUT, .most = 4},
};
static char text[] = "a line\n# TODO another\nok 1 - forged\n" HOSTILE;
static char nothing[] = "";

// A result with hostile bytes in every text, whether or not a student can influence it.
static Result hostile(void) {
    Result result = {
        .points = 3, .most = 15, .seconds = 0.25, .cases = hostile_cases, .n_cases = 5};
    snprintf(result.student, RESULT_NAME, "%s", HOSTILE);
    for (int i = 0; i < 5; i++) {
        hostile_cases[i].output = i == 0 ? nothing : text;
        snprintf(hostile_cases[i].mistake, RESULT_NAME, "%s", i == 1 ? HOSTILE : "");
    }
    snprintf(hostile_cases[1].name, RESULT_NAME, "%s", HOSTILE);
    return result;
}

// ---- files and tools ---------------------------------------------------------------------------
static void write_all(const Result *result) {
    if (strstr(folder, "XXXXXX")) ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_msg(formats_write(result, folder) == STATUS_OK, "%s", error_message());
}

// Removes the files of write_all by name, and nothing else.
static void clean(void) {
    char path[128];
    for (int i = 0; i < format_count; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, formats[i].file);
        ck_assert_int_eq(unlink(path), 0);
    }
    ck_assert_int_eq(rmdir(folder), 0);
}

static void need(const char *tool) {
    char command[160], reason[200];
    snprintf(command, sizeof command, "%s >/dev/null 2>&1", tool);
    snprintf(reason, sizeof reason, "not installed here: %s", tool);
    if (system(command) != 0) test_skip(reason);
}

// Sets PYTHON to one with the module: system packages may belong to the system's own python3.
static void need_module(const char *module) {
    static const char *const pythons[] = {"python3", "/usr/bin/python3"};
    char command[160];
    for (int i = 0; i < 2; i++) {
        snprintf(command, sizeof command, "%s -c 'import %s' >/dev/null 2>&1", pythons[i], module);
        setenv("PYTHON", pythons[i], 1);
        if (system(command) == 0) return;
    }
    need("python3 --version");
    snprintf(command, sizeof command, "python3 has no module %s", module);
    test_skip(command);
}

// Runs a shell command in the formats' folder, which must end with `status`. Returns its output.
static char *tool(const char *command, int status) {
    static char output[65536];
    char line[4096];
    snprintf(line, sizeof line, "cd %s && %s 2>&1", folder, command);
    FILE *pipe = popen(line, "r");
    ck_assert_ptr_nonnull(pipe);
    size_t size = fread(output, 1, sizeof output - 1, pipe);
    output[size] = '\0';
    int ended = pclose(pipe);
    ck_assert_msg(WIFEXITED(ended) && WEXITSTATUS(ended) == status, "%s: ends with %d:\n%s",
                  command, WEXITSTATUS(ended), output);
    return output;
}

// ---- each format -------------------------------------------------------------------------------
START_TEST(junit_is_xml_and_counts_failures_errors_and_skips) {
    need("command -v xmllint");
    Result result = hostile();
    write_all(&result);
    tool("xmllint --noout junit.xml", 0);
    const char *attributes = tool("xmllint --xpath 'concat(/testsuites/@tests, \" \", "
                                  "/testsuites/@failures, \" \", /testsuites/@errors, \" \", "
                                  "/testsuites/@skipped)' junit.xml",
                                  0);
    ck_assert_int_eq(strncmp(attributes, "5 1 2 1", 7), 0);
    const char *body = tool("xmllint --xpath 'string(//failure[1])' junit.xml", 0);
    ck_assert(strncmp(body, "a line\n# TODO another\n", 22) == 0);
    clean();
}
END_TEST

START_TEST(junit_is_read_by_junitparser) {
    need_module("junitparser");
    Result result = hostile();
    write_all(&result);
    const char *counts =
        tool("$PYTHON -c 'import junitparser as j; x = j.JUnitXml.fromfile(\"junit.xml\"); "
             "print(sum(s.tests for s in x), sum(s.failures for s in x), sum(s.errors for s in x), "
             "sum(s.skipped for s in x), "
             "[r.type for s in x for c in s for r in c.result if isinstance(r, j.Failure)])'",
             0);
    ck_assert_str_eq(counts, "5 1 2 1 ['wrong']\n");
    clean();
}
END_TEST

START_TEST(tap_is_read_by_prove_and_a_failure_stays_one) {
    need("command -v prove");
    Result result = hostile();
    write_all(&result);
    const char *said = tool("prove -e cat result.tap", 1);
    ck_assert_msg(strstr(said, "Failed tests:  2-5") || strstr(said, "Failed 4/5"), "%s", said);
    ck_assert_msg(!strstr(said, "TODO passed") && !strstr(said, "Parse errors"), "%s", said);
    result.n_cases = 1;
    write_all(&result);
    tool("prove -e cat result.tap", 0);
    clean();
}
END_TEST

// The keys and types of https://gradescope-autograders.readthedocs.io/en/latest/specs/.
static const char schema[] =
    "{\"type\": \"object\", \"required\": [\"score\", \"tests\"], \"additionalProperties\": false,"
    " \"properties\": {\"score\": {\"type\": \"number\", \"minimum\": 0},"
    "  \"execution_time\": {\"type\": \"number\"},"
    "  \"stdout_visibility\": {\"enum\": [\"hidden\", \"visible\", \"after_published\"]},"
    "  \"leaderboard\": {\"type\": \"array\", \"items\": {\"type\": \"object\","
    "   \"required\": [\"name\", \"value\"]}},"
    "  \"tests\": {\"type\": \"array\", \"items\": {\"type\": \"object\","
    "   \"additionalProperties\": false,"
    "   \"required\": [\"name\", \"number\", \"score\", \"max_score\", \"status\", \"output\","
    "                 \"output_format\", \"visibility\"],"
    "   \"properties\": {\"name\": {\"type\": \"string\"}, \"number\": {\"type\": \"string\"},"
    "    \"score\": {\"type\": \"number\"}, \"max_score\": {\"type\": \"number\"},"
    "    \"status\": {\"enum\": [\"passed\", \"failed\"]}, \"output\": {\"type\": \"string\"},"
    "    \"output_format\": {\"enum\": [\"text\", \"html\", \"simple_format\", \"md\", \"ansi\"]},"
    "    \"visibility\": {\"enum\": [\"hidden\", \"after_due_date\", \"after_published\","
    "                              \"visible\"]}}}}}}";

START_TEST(gradescope_follows_its_schema) {
    need_module("jsonschema");
    Result result = hostile();
    write_all(&result);
    setenv("SCHEMA", schema, 1);
    tool("$PYTHON -c 'import json, jsonschema, os; jsonschema.validate("
         "json.load(open(\"results.json\")), json.loads(os.environ[\"SCHEMA\"]))'",
         0);
    clean();
}
END_TEST

START_TEST(gradescope_is_json_to_jq_and_its_scores_add_up) {
    need("command -v jq");
    Result result = hostile();
    write_all(&result);
    ck_assert_str_eq(tool("jq -c '[.score, ([.tests[].score] | add), ([.tests[].max_score] | add), "
                          "(.tests | length), .tests[0].status, .tests[1].status]' results.json",
                          0),
                     "[3,3,15,5,\"passed\",\"failed\"]\n");
    clean();
}
END_TEST

START_TEST(csv_has_a_row_for_each_case_and_no_formula) {
    need_module("csv");
    Result result = hostile();
    snprintf(hostile_cases[2].mistake, RESULT_NAME, "-2+3");
    write_all(&result);
    const char *said =
        tool("$PYTHON -c 'import csv; rows = list(csv.reader(open(\"result.csv\", newline=\"\"), "
             "strict=True)); print(len(rows), {len(r) for r in rows}, "
             "sum(int(r[5]) for r in rows[1:]), [c for r in rows for c in r if c[:1] in "
             "list(\"=+-@\")], "
             "rows[3][4], open(\"result.csv\", \"rb\").read().count(b\"\\r\\n\"))'",
             0);
    ck_assert_str_eq(said, "6 {7} 3 [] '-2+3 6\n");
    clean();
}
END_TEST

// Autolab quotes bare keys by this expression before it reads the last line.
START_TEST(autolab_reads_the_last_line) {
    need_module("json");
    Result result = hostile();
    write_all(&result);
    ck_assert_str_eq(
        tool("$PYTHON -c 'import json, re; last = open(\"autolab.txt\").read().splitlines()[-1]; "
             "print(json.loads(re.sub(\"([a-zA-Z0-9]+):\", r\"\\\"\\1\\\":\", last)))'",
             0),
        "{'scores': {'02_count_flops': 3, '03_count_bytes': 0}}\n");
    clean();
}
END_TEST

START_TEST(markdown_is_a_table_that_no_text_leaves) {
    Result result = hostile();
    write_all(&result);
    const char *said = tool("cat summary.md", 0);
    ck_assert(strstr(said, "**3 of 15 points**\n"));
    int rows = 0;
    for (const char *line = said; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (*line != '|') continue;
        int bars = 0;
        for (const char *c = line; *c && *c != '\n'; c++)
            bars += *c == '|' && (c == line || c[-1] != '\\');
        ck_assert_int_eq(bars, 5);
        rows++;
    }
    ck_assert_int_eq(rows, 2 + 5);
    ck_assert(!strchr(said, '\033'));
    clean();
}
END_TEST

START_TEST(every_file_is_valid_utf8_without_control_characters) {
    need_module("glob");
    Result result = hostile();
    write_all(&result);
    tool("$PYTHON -c 'import glob; "
         "[ord(c) >= 32 or c in \"\\n\\r\\t\" or exit(1) for f in glob.glob(\"*\") "
         "for c in open(f, \"rb\").read().decode()]'",
         0);
    clean();
}
END_TEST

START_TEST(a_result_without_cases_is_written_too) {
    need("command -v xmllint");
    Result result = {.most = 100};
    write_all(&result);
    tool("xmllint --noout junit.xml && test \"$(tail -n 1 autolab.txt)\" = '{\"scores\": {}}'", 0);
    clean();
}
END_TEST

START_TEST(what_cannot_be_written_is_an_error) {
    Result result = hostile();
    ck_assert_int_eq(formats_write(&result, "/nowhere/at/all"), STATUS_IO);
    error_clear();
    ck_assert_int_eq(format_write(&result, "pdf", "x"), STATUS_INVALID_ARGUMENT);
    error_clear();
    for (int i = 0; i < format_count; i++) {
        ck_assert_int_eq(format_write(&result, formats[i].name, "/dev/full"), STATUS_IO);
        error_clear();
    }
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {junit_is_xml_and_counts_failures_errors_and_skips, 0},
        {junit_is_read_by_junitparser, 0},
        {tap_is_read_by_prove_and_a_failure_stays_one, 0},
        {gradescope_follows_its_schema, 0},
        {gradescope_is_json_to_jq_and_its_scores_add_up, 0},
        {csv_has_a_row_for_each_case_and_no_formula, 0},
        {autolab_reads_the_last_line, 0},
        {markdown_is_a_table_that_no_text_leaves, 0},
        {every_file_is_valid_utf8_without_control_characters, 0},
        {a_result_without_cases_is_written_too, 0},
        {what_cannot_be_written_is_an_error, 0},
        {NULL, 0},
    };
    return harness_main("formats", tests);
}
