// format_csv.c -- RFC 4180: commas, CR LF, quotes doubled.
#include <string.h>

#include "exercises/lab/formats.h"
#include "profiler/report/text.h"

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
