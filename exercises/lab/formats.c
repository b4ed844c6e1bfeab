// formats.c -- makes a Result from a finished grade; and the list of formats.
#include "exercises/lab/formats.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "exercises/course/text_file.h"
#include "exercises/lab/screen.h"
#include "profiler/base/text.h"
#include "tensor/memory.h"

static Status fill_case(const GradeResult *grade, const ExerciseResult *exercise,
                        const CaseResult *of_case, ResultCase *out) {
    const Exercise *definition = exercise->exercise;
    *out = (ResultCase){.state = of_case->state,
                        .points = of_case->points,
                        .most = of_case->definition->points,
                        .hidden = of_case->definition->hidden,
                        .stretch = definition->stretch};
    snprintf(out->exercise, RESULT_NAME, "%.10s %.50s", definition->number, definition->name);
    snprintf(out->name, RESULT_NAME, "%s", of_case->definition->name);
    snprintf(out->mistake, RESULT_NAME, "%s", of_case->mistake ? of_case->mistake : "");
    Page page = {.colour = false};
    if (of_case->state != CASE_PASSED) {
        Failure failure = failure_of(grade, exercise, of_case, "exercises");
        screen_failure(&page, &failure);
    }
    out->output = page.failed ? NULL : memory_copy_string(page_text(&page));
    page_free(&page);
    return error_status();
}

Status result_of(const GradeResult *grade, Result *result) {
    *result = (Result){.points = grade->points,
                       .most = grade->most_points,
                       .stretch_points = grade->stretch_points,
                       .seconds = grade->seconds};
    snprintf(result->student, RESULT_NAME, "%.63s", grade->student);
    text_clean(result->student);
    int count = 0;
    for (int i = 0; i < grade->n_exercises; i++) count += grade->exercises[i].n_cases;
    result->cases = memory_new((size_t)count * sizeof *result->cases + 1);
    if (!result->cases) return error_status();
    Status status = STATUS_OK;
    for (int i = 0; i < grade->n_exercises; i++) {
        const ExerciseResult *exercise = &grade->exercises[i];
        if (exercise->compiler) compiler_shorten(exercise->compiler);
        for (int k = 0; !status && k < exercise->n_cases; k++)
            status =
                fill_case(grade, exercise, &exercise->cases[k], &result->cases[result->n_cases++]);
    }
    return status;
}

void result_free(Result *result) {
    for (int i = 0; i < result->n_cases; i++) memory_free(result->cases[i].output);
    memory_free(result->cases);
    *result = (Result){.n_cases = 0};
}

ResultVerdict result_verdict(const ResultCase *of_case) {
    switch (of_case->state) {
    case CASE_PASSED:
        return VERDICT_PASSED;
    case CASE_NOT_IMPLEMENTED:
    case CASE_MISSING:
    case CASE_PRACTICE:
        return VERDICT_SKIPPED;
    case CASE_WRONG:
    case CASE_WITHHELD:
    case CASE_OTHER_KEY:
        return VERDICT_FAILED;
    default:
        return VERDICT_ERROR;
    }
}

// ---- the formats --------------------------------------------------------------------------------
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
