// common.c -- what the commands of lab share: complaints, the exercise that is meant, its file.
#include <stdarg.h>
#include <stdio.h>

#include "exercises/lab/command.h"

int lab_refuse(int status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("lab: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    return status;
}

int lab_fail(void) {
    Status status = error_status();
    bool usage = status == STATUS_INVALID_ARGUMENT;
    bool file = status == STATUS_IO || status == STATUS_FORMAT || status == STATUS_OUT_OF_MEMORY ||
                status == STATUS_STATE;
    lab_refuse(0, "%s", error_message());
    error_clear();
    return usage ? LAB_USAGE : file ? LAB_FILE : LAB_FAILED;
}

const Exercise *lab_exercise(const Lab *lab) {
    const Exercise *exercise = exercise_by_number(lab->argument);
    if (!exercise)
        lab_refuse(LAB_USAGE, "%s: there is no such exercise; ./lab lists them", lab->argument);
    return exercise;
}

GradeOptions lab_grade_options(const Lab *lab) {
    return (GradeOptions){.folder = lab->folder,
                          .toolchain = "build/lab/toolchain",
                          .key = {.secret = "",
                                  .student = lab->progress.student,
                                  .seed = (uint64_t)lab->options.seed},
                          .only_case = lab->options.case_name,
                          .fuzz = (int)lab->options.fuzz,
                          .sanitize = lab->options.asan};
}

void lab_file_name(const Exercise *exercise, char *name, size_t size) {
    if (exercise->answers)
        snprintf(name, size, "%s", exercise->answers);
    else
        snprintf(name, size, "ex%s_%s.c", exercise->number, exercise->name);
}

int lab_show(Page *page) {
    int status = page->failed ? lab_fail() : LAB_DONE;
    if (status == LAB_DONE) fputs(page_text(page), stdout);
    page_free(page);
    return status;
}
