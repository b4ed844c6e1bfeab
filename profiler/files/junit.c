// junit.c -- writes suites of cases, each with its counts first.
#include "profiler/files/exports.h"

#include <string.h>

#include "profiler/base/escape.h"

static JunitCase case_at(const JunitCases *cases, int i) {
    JunitCase one;
    cases->at(cases->holder, i, &one);
    return one;
}

static void put_counts(const JunitCases *cases, int from, int n, WholeFile *file) {
    int counts[4] = {0};
    for (int i = 0; i < n; i++) counts[case_at(cases, from + i).verdict]++;
    whole_file_print(file, " tests=\"%d\" failures=\"%d\" errors=\"%d\" skipped=\"%d\"", n,
                     counts[JUNIT_FAILED], counts[JUNIT_ERROR], counts[JUNIT_SKIPPED]);
}

static void put_case(const JunitCase *one, WholeFile *file) {
    static const char *const tags[] = {"", "failure", "error", "skipped"};
    const char *tag = tags[one->verdict];
    whole_file_print(file, "    <testcase");
    escape_attribute(file, "classname", one->suite);
    escape_attribute(file, "name", one->name);
    whole_file_print(file, " time=\"0\"");
    if (!*tag) {
        whole_file_print(file, "/>\n");
        return;
    }
    whole_file_print(file, ">\n      <%s", tag);
    if (one->verdict != JUNIT_SKIPPED) escape_attribute(file, "type", one->type);
    escape_attribute(file, "message", one->message);
    whole_file_print(file, ">");
    escape_xml(file, one->output);
    whole_file_print(file, "</%s>\n    </testcase>\n", tag);
}

void junit_write(WholeFile *file, const char *name, double seconds, const JunitCases *cases) {
    whole_file_print(file, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites");
    escape_attribute(file, "name", name);
    put_counts(cases, 0, cases->n, file);
    whole_file_print(file, " time=\"%.3f\">\n", seconds);
    for (int i = 0, n; i < cases->n; i += n) {
        const char *suite = case_at(cases, i).suite;
        for (n = 1; i + n < cases->n && strcmp(case_at(cases, i + n).suite, suite) == 0;) n++;
        whole_file_print(file, "  <testsuite");
        escape_attribute(file, "name", suite);
        put_counts(cases, i, n, file);
        whole_file_print(file, " time=\"0\">\n");
        for (int k = 0; k < n; k++) {
            JunitCase one = case_at(cases, i + k);
            put_case(&one, file);
        }
        whole_file_print(file, "  </testsuite>\n");
    }
    whole_file_print(file, "</testsuites>\n");
}
