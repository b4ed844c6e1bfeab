// formats.c -- the list of formats.
#include "exercises/lab/formats.h"

#include <limits.h>
#include <string.h>

#include "profiler/report/text.h"

const Format formats[] = {
    {"junit", "junit.xml", "JUnit XML", format_junit, NULL},
    {"tap", "result.tap", "Test Anything Protocol 13", format_tap, NULL},
    {"gradescope", "results.json", "Gradescope", NULL, format_gradescope},
    {"csv", "result.csv", "comma-separated values", format_csv, NULL},
    {"autolab", "autolab.txt", "Autolab", format_autolab, NULL},
    {"markdown", "summary.md", "summary of a GitHub job", format_markdown, NULL},
};
const int format_count = (int)(sizeof formats / sizeof formats[0]);

void format_plain(WholeFile *file, const char *text, size_t length) {
    for (const char *end = text + length; text < end;) {
        int bytes = text_printable_bytes(text);
        whole_file_write(file, bytes > 0 ? text : "?", bytes > 0 ? (size_t)bytes : 1);
        text += bytes > 0 ? bytes : 1;
    }
}

static Status write_one(const Result *result, const Format *format, const char *path) {
    if (format->write_json) {
        JsonWriter *json = json_file_open(path);
        if (!json) return error_status();
        format->write_json(result, json);
        return json_writer_close(json);
    }
    WholeFile *file = whole_file_open(path);
    if (!file) return error_status();
    format->write(result, file);
    return whole_file_close(file);
}

Status format_write(const Result *result, const char *name, const char *path) {
    for (int i = 0; i < format_count; i++)
        if (strcmp(formats[i].name, name) == 0) return write_one(result, &formats[i], path);
    return error_set(STATUS_INVALID_ARGUMENT,
                     "%.40s: there is no such format. HINT: one of junit, tap, gradescope, csv, "
                     "autolab, markdown",
                     name);
}

Status formats_write(const Result *result, const char *folder) {
    Status status = STATUS_OK;
    for (int i = 0; !status && i < format_count; i++) {
        char path[PATH_MAX];
        int length = snprintf(path, sizeof path, "%s/%s", folder, formats[i].file);
        status = length < (int)sizeof path
                     ? write_one(result, &formats[i], path)
                     : error_set(STATUS_IO, "%.100s...: the path is too long", folder);
    }
    return status;
}
