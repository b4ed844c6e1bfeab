// format_tap.c -- the Test Anything Protocol, version 13, which Debian's prove reads.
#include <string.h>

#include "exercises/lab/formats.h"
#include "profiler/report/text.h"

// A `#` in a description would begin a directive.
static void put_description(WholeFile *file, const char *text) {
    while (*text) {
        int bytes = text_printable_bytes(text);
        if (bytes > 0 && *text != '#' && *text != '\\')
            whole_file_write(file, text, (size_t)bytes);
        else
            whole_file_print(file, "?");
        text += bytes > 0 ? bytes : 1;
    }
}

// Each line of it is a comment.
static void put_comment(WholeFile *file, const char *text) {
    while (*text) {
        size_t length = strcspn(text, "\n");
        whole_file_print(file, "# ");
        format_plain(file, text, length);
        whole_file_print(file, "\n");
        text += length + (text[length] == '\n');
    }
}

void format_tap(const Result *result, WholeFile *file) {
    whole_file_print(file, "TAP version 13\n1..%d\n", result->n_cases);
    for (int i = 0; i < result->n_cases; i++) {
        const ResultCase *of_case = &result->cases[i];
        whole_file_print(file, "%s %d - ", of_case->state == CASE_PASSED ? "ok" : "not ok", i + 1);
        put_description(file, of_case->exercise);
        whole_file_print(file, ": ");
        put_description(file, of_case->name);
        if (of_case->state != CASE_PASSED)
            whole_file_print(file, ": %s", case_state_word(of_case->state));
        whole_file_print(file, "\n");
        put_comment(file, of_case->output);
    }
}
