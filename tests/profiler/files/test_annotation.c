// test_annotation.c -- annotations for GitHub: each expected line is escaped exactly as by its own
// toolkit (actions/toolkit, command.ts: % CR LF in a message, and : , in a property).
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/files/exports.h"
#include "tests/helpers/harness.h"

static void expect(const char *title, const char *message, const char *line) {
    char text[400] = "";
    FILE *file = fmemopen(text, sizeof text, "w");
    ck_assert_ptr_nonnull(file);
    annotation_print("error", title, message, file);
    fclose(file);
    ck_assert_str_eq(text, line);
}

START_TEST(a_line_is_one_whatever_is_in_it) {
    expect("t", "m", "::error title=t::m\n");
    expect("", "", "::error title=::\n");
    expect("latency:+5%, at most", "+12.0%: 1, 2",
           "::error title=latency%3A+5%25%2C at most::+12.0%25: 1, 2\n");
    expect("a\nb", "one\n::error::two", "::error title=a%0Ab::one%0A::error::two\n");
    expect("\x1b[31m", "\r\xff \xc3\xa9", "::error title=?[31m::?? \xc3\xa9\n");
}
END_TEST

START_TEST(only_of_a_run_of_a_workflow) {
    setenv("GITHUB_ACTIONS", "true", 1);
    ck_assert(annotation_wanted());
    setenv("GITHUB_ACTIONS", "", 1);
    ck_assert(!annotation_wanted());
    unsetenv("GITHUB_ACTIONS");
    ck_assert(!annotation_wanted());
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {a_line_is_one_whatever_is_in_it, 0},
        {only_of_a_run_of_a_workflow, 0},
        {NULL, 0},
    };
    return harness_main("annotation", tests);
}
