// class_runs.c -- a class of students, the lab's stand-in, and runs of the instructor's program.
#include "tests/exercises/instructor/class_runs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/helpers/harness.h"
#include "tests/helpers/work_folder.h"

enum { TEXT = 4096 };

// ---- the lab's stand-in -------------------------------------------------------------------------
void class_begin(void) {
    work_folder_begin();
    // The stand-in grades by the text of the first exercise's file, and counts its calls.
    work_folder_run(
        "cat >lab <<'END'\n"
        "#!/bin/sh\n"
        "output=$4 file=$2/ex01_count_parameters.c here=${0%/*}\n"
        "echo \"$6\" >>$here/calls\n"
        "! grep -qs die $file || exit 9\n"
        "state=missing points=0 mistake=null\n"
        "if [ -f $file ]; then state=wrong mistake='\"bias_forgotten\"'; fi\n"
        "if grep -qs right $file; then state=passed points=5 mistake=null; fi\n"
        "cat >$output/result.json <<J\n"
        "{\"student\": \"$6\", \"points\": $points, \"most_points\": 100,\n"
        " \"exercises\": [{\"number\": \"01\", \"name\": \"count_parameters\", \"cases\": [\n"
        "  {\"name\": \"linear\", \"state\": \"$state\", \"points\": $points,\n"
        "   \"most_points\": 5, \"mistake\": $mistake}]}]}\n"
        "J\n"
        "END\n"
        "chmod +x lab; mkdir class; : >calls");
}

// The program of this build, which lies beside the folder of this test.
const char *instructor_path(void) {
    static char path[TEXT];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 16);
    ck_assert_int_gt((int)length, 0);
    path[length] = '\0';
    for (int i = 0; i < 2; i++) *strrchr(path, '/') = '\0';
    return strcat(path, "/instructor");
}

ProgramRun class_instructor(const char *command, const char *rest) {
    char arguments[2 * TEXT];
    snprintf(arguments, sizeof arguments, "%s --lab %s/lab %s", command, work_folder, rest);
    return program_run(instructor_path(), arguments, PROGRAM_CAPTURED);
}

void class_refused(ProgramRun *run, int status, const char *what) {
    ck_assert_msg(run->status == status, "%d: %s", run->status, run->err);
    ck_assert_int_eq(program_count_lines(run->err), 1);
    ck_assert_int_eq(strncmp(run->err, "instructor: ", 12), 0);
    ck_assert_msg(strstr(run->err, what) != NULL, "%s", run->err);
    program_run_free(run);
}

char *class_grade(int status, const char *options) {
    char rest[TEXT], path[64];
    snprintf(rest, sizeof rest, "%s/class%s%s", work_folder, options[0] ? " " : "", options);
    ProgramRun run = class_instructor("grade-all", rest);
    ck_assert_msg(run.status == status, "%d: %s%s", run.status, run.out, run.err);
    program_run_free(&run);
    snprintf(path, sizeof path, "%s/class-grades/class.csv", work_folder);
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    char *text = calloc(1, 1 << 16);
    ck_assert_uint_gt(fread(text, 1, (1 << 16) - 1, file), 0);
    fclose(file);
    return text;
}

void class_assert_in(const char *text, const char *wanted) {
    ck_assert_msg(strstr(text, wanted) != NULL, "no \"%s\" in:\n%s", wanted, text);
}
