// grade_command.c -- ./lab grade: grades the files in a folder, writes result.json and, beside it,
// the formats that platforms read.
#include <stdio.h>
#include <string.h>

#include "exercises/grader/result_json.h"
#include "exercises/grader/text_file.h"
#include "exercises/lab/command.h"
#include "exercises/lab/formats.h"
#include "tensor/memory.h"

enum { MOST_SECRET = 4096 };

// The first line of the secret's file; "" where none is given. Owned; NULL with an error pending.
static char *read_secret(const char *path) {
    char *secret = path ? file_read(NULL, path, MOST_SECRET, NULL) : memory_copy_string("");
    if (secret) secret[strcspn(secret, "\r\n")] = '\0';
    return secret;
}

static Status grade_into(const GradeOptions *options, const char *folder, GradeResult *result) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%.4000s/result.json", folder);
    Status status = result_json_begin(path, options);
    if (!status) status = grade(options, result);
    if (!status) status = result_json_write(path, result);
    Result summary = {.n_cases = 0};
    if (!status) status = result_of(result, &summary);
    if (!status) status = formats_write(&summary, folder);
    result_free(&summary);
    return status;
}

static int show(Lab *lab, const GradeResult *result, const char *folder) {
    Page page = {.colour = lab->colour};
    char layers[96];
    page_label(&page, NULL);
    page_print(&page, PAGE_BOLD, 0, "%d of %d points", result->points, result->most_points);
    if (result->stretch_points > 0)
        page_print(&page, PAGE_PLAIN, 0, ", and %d more", result->stretch_points);
    page_print(&page, PAGE_PLAIN, 3, "%d cases passed, %d did not", result->passed, result->failed);
    page_end_line(&page);
    page_label(&page, "files");
    page_print(&page, PAGE_PLAIN, 0, "%.400s/result.json and %d formats", folder, format_count);
    page_end_line(&page);
    page_label(&page, "contained");
    page_piece(&page, PAGE_PLAIN, 0, contain_layers_text(result->layers, layers, sizeof layers));
    page_end_line(&page);
    return lab_show(&page);
}

int command_grade(Lab *lab) {
    GradeOptions options = lab_grade_options(lab);
    const char *folder = lab->options.output ? lab->options.output : lab->argument;
    char *secret = read_secret(lab->options.secret);
    GradeResult result = {.n_exercises = 0};
    if (!secret) return lab_fail();
    options.folder = lab->argument;
    options.key.secret = secret;
    options.key.student = lab->options.student ? lab->options.student : "";
    Status status = grade_into(&options, folder, &result);
    int shown = status ? lab_fail() : show(lab, &result, folder);
    grade_free(&result);
    memory_free(secret);
    return shown;
}
