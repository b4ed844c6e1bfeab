// format_text.c -- formats of text: CSV, JUnit XML, the Test Anything Protocol, Markdown.
#include <ctype.h>
#include <string.h>

#include "exercises/lab/formats.h"
#include "profiler/report/text.h"

// ---- CSV: commas, CR LF, quotes doubled --------------------------------------------------------
void csv_cell(WholeFile *file, const char *text) {
    bool formula = text[0] && strchr("=+-@\t\r", text[0]);
    bool quoted = formula || text[strcspn(text, ",\"\r\n")] != '\0';
    if (quoted) whole_file_print(file, "\"%s", formula ? "'" : "");
    while (*text) {
        int bytes = text_printable_bytes(text);
        if (*text == '"')
            whole_file_print(file, "\"\"");
        else if (bytes > 0 || *text == '\n')
            whole_file_write(file, text, bytes > 0 ? (size_t)bytes : 1);
        else
            whole_file_print(file, "?");
        text += bytes > 0 ? bytes : 1;
    }
    if (quoted) whole_file_print(file, "\"");
}

static void put_row(const Result *result, const ResultCase *of_case, WholeFile *file) {
    const char *const cells[] = {result->student, of_case->exercise, of_case->name,
                                 case_state_word(of_case->state), of_case->mistake};
    for (int i = 0; i < 5; i++) {
        csv_cell(file, cells[i]);
        whole_file_print(file, ",");
    }
    whole_file_print(file, "%d,%d\r\n", of_case->points, of_case->most);
}

void format_csv(const Result *result, WholeFile *file) {
    whole_file_print(file, "student,exercise,case,state,mistake,points,most\r\n");
    for (int i = 0; i < result->n_cases; i++) put_row(result, &result->cases[i], file);
}

// ---- JUnit XML ----------------------------------------------------------------------------------
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

// ---- TAP 13, which Debian's prove reads ---------------------------------------------------------
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

// ---- Markdown as GitHub shows it: a table and the failures --------------------------------------
// Text that means nothing else in a cell: every ASCII punctuation may be escaped.
static void put_cell(WholeFile *file, const char *text) {
    while (*text) {
        int bytes = text_printable_bytes(text);
        if (bytes == 1 && ispunct((unsigned char)*text) && !strchr("_/.,()'", *text))
            whole_file_print(file, "\\");
        whole_file_write(file, bytes > 0 ? text : "?", bytes > 0 ? (size_t)bytes : 1);
        text += bytes > 0 ? bytes : 1;
    }
}

// A block of code, by indentation: no run of backticks within can end it.
static void put_block(WholeFile *file, const char *text) {
    whole_file_print(file, "\n");
    while (*text) {
        size_t length = strcspn(text, "\n");
        whole_file_print(file, "    ");
        format_plain(file, text, length);
        whole_file_print(file, "\n");
        text += length + (text[length] == '\n');
    }
}

void format_markdown(const Result *result, WholeFile *file) {
    whole_file_print(file, "# Profiler exercises");
    if (result->student[0]) whole_file_print(file, ": ");
    put_cell(file, result->student);
    whole_file_print(file, "\n\n**%d of %d points**", result->points, result->most);
    if (result->stretch_points > 0) whole_file_print(file, ", and %d more", result->stretch_points);
    whole_file_print(file, "\n\n| exercise | case | state | points |\n|---|---|---|---:|\n");
    for (int i = 0; i < result->n_cases; i++) {
        const ResultCase *of_case = &result->cases[i];
        const char *const cells[] = {of_case->exercise, of_case->name,
                                     case_state_word(of_case->state)};
        for (int k = 0; k < 3; k++) {
            whole_file_print(file, "| ");
            put_cell(file, cells[k]);
            whole_file_print(file, " ");
        }
        whole_file_print(file, "| %d/%d |\n", of_case->points, of_case->most);
    }
    for (int i = 0; i < result->n_cases; i++)
        if (result->cases[i].output[0]) put_block(file, result->cases[i].output);
}
