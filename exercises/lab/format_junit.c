// format_junit.c -- JUnit XML.
#include <string.h>

#include "exercises/lab/formats.h"
#include "profiler/report/text.h"

// Text or an attribute's value: also "]]>" has no meaning after this, and a line end in an
// attribute stays one.
static void put_text(WholeFile *file, const char *text) {
    static const struct {
        char c;
        const char *name;
    } names[] = {{'&', "&amp;"},  {'<', "&lt;"},  {'>', "&gt;"}, {'"', "&quot;"},
                 {'\n', "&#10;"}, {'\t', "&#9;"}, {0, "?"}};
    while (*text) {
        int bytes = text_printable_bytes(text), n = 0;
        while (names[n].c && names[n].c != *text) n++;
        if (bytes > 0 && !names[n].c)
            whole_file_write(file, text, (size_t)bytes);
        else
            whole_file_write(file, names[n].name, strlen(names[n].name));
        text += bytes > 0 ? bytes : 1;
    }
}

static void put_attribute(WholeFile *file, const char *name, const char *value) {
    whole_file_print(file, " %s=\"", name);
    put_text(file, value);
    whole_file_print(file, "\"");
}

static void put_counts(const ResultCase *cases, int n, WholeFile *file) {
    int counts[4] = {0};
    for (int i = 0; i < n; i++) counts[result_verdict(&cases[i])]++;
    whole_file_print(file, " tests=\"%d\" failures=\"%d\" errors=\"%d\" skipped=\"%d\"", n,
                     counts[VERDICT_FAILED], counts[VERDICT_ERROR], counts[VERDICT_SKIPPED]);
}

static void put_case(const ResultCase *of_case, WholeFile *file) {
    static const char *const tags[] = {"", "failure", "error", "skipped"};
    const char *tag = tags[result_verdict(of_case)];
    whole_file_print(file, "    <testcase");
    put_attribute(file, "classname", of_case->exercise);
    put_attribute(file, "name", of_case->name);
    whole_file_print(file, " time=\"0\"");
    if (!*tag) {
        whole_file_print(file, "/>\n");
        return;
    }
    char message[2 * RESULT_NAME];
    snprintf(message, sizeof message, "%s%s%s", case_state_text(of_case->state),
             of_case->mistake[0] ? ": " : "", of_case->mistake);
    whole_file_print(file, ">\n      <%s", tag);
    if (strcmp(tag, "skipped") != 0) put_attribute(file, "type", case_state_word(of_case->state));
    put_attribute(file, "message", message);
    whole_file_print(file, ">");
    put_text(file, of_case->output);
    whole_file_print(file, "</%s>\n    </testcase>\n", tag);
}

void format_junit(const Result *result, WholeFile *file) {
    whole_file_print(file, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites");
    put_attribute(file, "name", result->student[0] ? result->student : "exercises");
    put_counts(result->cases, result->n_cases, file);
    whole_file_print(file, " time=\"%.3f\">\n", result->seconds);
    for (int i = 0, n; i < result->n_cases; i += n) { // the cases of one exercise follow each other
        const ResultCase *first = &result->cases[i];
        for (n = 1; i + n < result->n_cases && strcmp(first[n].exercise, first->exercise) == 0;)
            n++;
        whole_file_print(file, "  <testsuite");
        put_attribute(file, "name", first->exercise);
        put_counts(first, n, file);
        whole_file_print(file, " time=\"0\">\n");
        for (int k = 0; k < n; k++) put_case(&first[k], file);
        whole_file_print(file, "  </testsuite>\n");
    }
    whole_file_print(file, "</testsuites>\n");
}
