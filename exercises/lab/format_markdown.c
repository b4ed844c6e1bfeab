// format_markdown.c -- a table and the failures, as GitHub shows them (GFM).
#include <ctype.h>
#include <string.h>

#include "exercises/lab/formats.h"
#include "profiler/report/text.h"

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
