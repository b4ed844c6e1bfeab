// format_text.c -- formats of text: CSV, JUnit XML, the Test Anything Protocol, Markdown.
#include <ctype.h>
#include <string.h>

#include "exercises/lab/formats.h"
#include "profiler/base/escape.h"
#include "profiler/base/text.h"
#include "profiler/files/exports.h"

// ---- CSV: commas, CR LF, quotes doubled --------------------------------------------------------
static void put_row(const Result *result, const ResultCase *of_case, WholeFile *file) {
    const char *const cells[] = {result->student, of_case->exercise, of_case->name,
                                 case_state_word(of_case->state), of_case->mistake};
    for (int i = 0; i < 5; i++) {
        escape_csv(file, cells[i]);
        whole_file_print(file, ",");
    }
    whole_file_print(file, "%d,%d\r\n", of_case->points, of_case->most);
}

void format_csv(const Result *result, WholeFile *file) {
    whole_file_print(file, "student,exercise,case,state,mistake,points,most\r\n");
    for (int i = 0; i < result->n_cases; i++) put_row(result, &result->cases[i], file);
}

// ---- JUnit XML ----------------------------------------------------------------------------------
static void put_case(const void *result, int i, JunitCase *one) {
    static const JunitVerdict verdicts[] = {[VERDICT_PASSED] = JUNIT_PASSED,
                                            [VERDICT_FAILED] = JUNIT_FAILED,
                                            [VERDICT_ERROR] = JUNIT_ERROR,
                                            [VERDICT_SKIPPED] = JUNIT_SKIPPED};
    const ResultCase *of_case = &((const Result *)result)->cases[i];
    *one = (JunitCase){.suite = of_case->exercise,
                       .name = of_case->name,
                       .verdict = verdicts[result_verdict(of_case)],
                       .type = case_state_word(of_case->state),
                       .output = of_case->output};
    snprintf(one->message, sizeof one->message, "%s%s%s", case_state_text(of_case->state),
             of_case->mistake[0] ? ": " : "", of_case->mistake);
}

void format_junit(const Result *result, WholeFile *file) {
    junit_write(file, result->student[0] ? result->student : "exercises", result->seconds,
                &(JunitCases){result->n_cases, put_case, result});
}

// ---- TAP 13, which Debian's prove reads ---------------------------------------------------------
// Escapes `#`, which would begin a directive in a description.
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

// Writes each line as a comment.
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
// Writes a text without markup: Markdown allows an escape before any ASCII punctuation.
static void put_cell(WholeFile *file, const char *text) {
    while (*text) {
        int bytes = text_printable_bytes(text);
        if (bytes == 1 && ispunct((unsigned char)*text) && !strchr("_/.,()'", *text))
            whole_file_print(file, "\\");
        whole_file_write(file, bytes > 0 ? text : "?", bytes > 0 ? (size_t)bytes : 1);
        text += bytes > 0 ? bytes : 1;
    }
}

// Writes a block of code by indentation, which no run of backticks in the text can end.
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
