// test_grading.c -- what an instructor runs over a class: submissions found and refused, grading
// resumed, what is written about it. A small script stands for the lab program; what that makes of
// a student's code is the grader's tests.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/run_program.h"
#include "tests/work_folder.h"

enum { TEXT = 4096 };

// ---- the lab's stand-in -------------------------------------------------------------------------
static void begin(void) {
    work_folder_begin();
    // It grades by what the first exercise's file says, and counts how often it is asked.
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

// Of this build: beside the folder that this test lies in.
static const char *instructor_path(void) {
    static char path[TEXT];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 16);
    ck_assert_int_gt((int)length, 0);
    path[length] = '\0';
    for (int i = 0; i < 2; i++) *strrchr(path, '/') = '\0';
    return strcat(path, "/instructor");
}

static ProgramRun instructor(const char *command, const char *rest) {
    char arguments[2 * TEXT];
    snprintf(arguments, sizeof arguments, "%s --lab %s/lab %s", command, work_folder, rest);
    return program_run(instructor_path(), arguments, PROGRAM_CAPTURED);
}

// One line on standard error, which says who complains and names `what`. Frees the run.
static void check_refusal(ProgramRun *run, int status, const char *what) {
    ck_assert_msg(run->status == status, "%d: %s", run->status, run->err);
    ck_assert_int_eq(program_count_lines(run->err), 1);
    ck_assert_int_eq(strncmp(run->err, "instructor: ", 12), 0);
    ck_assert_msg(strstr(run->err, what) != NULL, "%s", run->err);
    program_run_free(run);
}

// Grades the class and gives back class.csv, to be freed.
static char *grade_class(int status, const char *options) {
    char rest[TEXT], path[64];
    snprintf(rest, sizeof rest, "%s/class%s%s", work_folder, options[0] ? " " : "", options);
    ProgramRun run = instructor("grade-all", rest);
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

static int count_calls(void) {
    char path[64], line[TEXT];
    int count = 0;
    snprintf(path, sizeof path, "%s/calls", work_folder);
    FILE *file = fopen(path, "r");
    while (fgets(line, sizeof line, file)) count++;
    fclose(file);
    return count;
}

static void check_has(const char *text, const char *wanted) {
    ck_assert_msg(strstr(text, wanted) != NULL, "no \"%s\" in:\n%s", wanted, text);
}

// ---- a class -----------------------------------------------------------------------------------
START_TEST(a_broken_submission_costs_only_itself) {
    begin();
    work_folder_run(
        "cd class; mkdir -p amy bob/exercises dan eve .hidden nobody; echo hello >README\n"
        "echo right >amy/ex01_count_parameters.c\n"
        "echo wrong >bob/exercises/ex01_count_parameters.c\n"
        "echo die >dan/ex01_count_parameters.c\n"
        "ln -s /etc/passwd eve/ex01_count_parameters.c; ln -s /etc fay\n"
        "mkdir exercises; cp amy/* exercises; tar cf gus.tar exercises; rm -r exercises\n"
        "mkdir hal; tar cf hal/submission.tar -C amy ./ex01_count_parameters.c\n"
        "head -c 3000 /dev/urandom >ian.tar");
    char *csv = grade_class(1, "");
    check_has(csv, "student,name,state,points,most,stretch,");
    check_has(csv, "\namy,,graded,5,100,0,0,5,");
    check_has(csv, "\nbob,,graded,0,100,0,0,");
    check_has(csv, "\ndan,,failed,0,0,0,0,");
    check_has(csv, "\neve,,refused,0,100,");
    check_has(csv, "\nfay,,refused,0,100,");
    check_has(csv, "\ngus,,graded,5,100,");
    check_has(csv, "\nhal,,graded,5,100,");
    check_has(csv, "\nian,,refused,0,100,");
    check_has(csv, "\nnobody,,refused,0,100,");
    ck_assert_ptr_null(strstr(csv, "root:"));
    ck_assert_ptr_null(strstr(csv, "hidden"));
    ck_assert_int_eq(program_count_lines(csv), 10);
    free(csv);
    work_folder_run("grep -q '^5 of 100 points' class-grades/amy/report.txt");
    work_folder_run("! grep -rq root: class-grades");
    work_folder_end();
}
END_TEST

START_TEST(what_is_graded_is_not_graded_again) {
    begin();
    work_folder_run("cd class; mkdir amy bob; echo right >amy/ex01_count_parameters.c\n"
                    "echo wrong >bob/ex01_count_parameters.c; echo s >../secret");
    char *first = grade_class(0, ""), *second = grade_class(0, "");
    ck_assert_int_eq(count_calls(), 2);
    ck_assert_str_eq(first, second);
    work_folder_run("echo right >class/bob/ex01_count_parameters.c");
    char *third = grade_class(0, "");
    ck_assert_int_eq(count_calls(), 3);
    check_has(third, "\nbob,,graded,5,");
    work_folder_run("echo mine >class/amy/by_hand.notes; touch class/amy/*");
    free(grade_class(0, ""));
    ck_assert_int_eq(count_calls(), 3); // nothing that is graded has changed
    free(grade_class(0, "--again"));
    ck_assert_int_eq(count_calls(), 5);
    char option[64];
    snprintf(option, sizeof option, "--secret %s/secret", work_folder);
    free(grade_class(0, option)); // other numbers
    ck_assert_int_eq(count_calls(), 7);
    work_folder_run("echo '# another grader' >>lab");
    free(grade_class(0, option));
    ck_assert_int_eq(count_calls(), 9);
    work_folder_run("rm class-grades/amy/result.json; echo '{' >class-grades/bob/result.json");
    char *last = grade_class(0, option);
    ck_assert_int_eq(count_calls(), 11);
    ck_assert_str_eq(last, third);
    free(first);
    free(second);
    free(third);
    free(last);
    work_folder_end();
}
END_TEST

START_TEST(a_roster_names_who_is_there_and_who_is_not) {
    begin();
    work_folder_run(
        "cd class; mkdir amy bob; echo right >amy/ex01_count_parameters.c\n"
        "echo right >bob/ex01_count_parameters.c\n"
        "printf 'student,name\\r\\namy,\"Amy \"\"A\"\", Ay\"\\r\\nzoe,=1+1\\n' >../roster.csv");
    char option[64];
    snprintf(option, sizeof option, "--roster %s/roster.csv", work_folder);
    char *csv = grade_class(0, option);
    check_has(csv, "\namy,\"Amy \"\"A\"\", Ay\",graded,5,");
    check_has(csv, "\nbob,,graded,5,");
    check_has(csv, "\nzoe,\"'=1+1\",absent,0,0,"); // no formula for a spreadsheet
    free(csv);
    work_folder_end();
}
END_TEST

START_TEST(an_export_of_gradescope_has_addresses) {
    begin();
    work_folder_run(
        "cd class; mkdir submission_1 submission_22; cat >submission_metadata.yml <<'END'\n"
        "---\n"
        "submission_1:\n"
        "  :submitters:\n"
        "  - :name: Jane Doe\n"
        "    :sid: '17'\n"
        "    :email: jane@x.edu\n"
        "  - :name: Second\n"
        "    :email: second@x.edu\n"
        "  :score: 3.0\n"
        "submission_22:\n"
        "  :submitters:\n"
        "  - :name: \"O'Hara\"\n"
        "    :email: o@x.edu\n"
        "END\n"
        "echo right >submission_1/ex01_count_parameters.c\n"
        "echo wrong >submission_22/ex01_count_parameters.c");
    char *csv = grade_class(0, "");
    check_has(csv, "\njane@x.edu,Jane Doe,graded,5,");
    check_has(csv, "\no@x.edu,O'Hara,graded,0,");
    work_folder_run("grep -qx jane@x.edu calls; test -f class-grades/jane@x.edu/result.json");
    free(csv);
    work_folder_end();
}
END_TEST

START_TEST(a_report_says_how_cases_did) {
    begin();
    work_folder_run(
        "cd class; for s in a b c d; do mkdir $s; echo right >$s/ex01_count_parameters.c\n"
        "done; echo wrong >d/ex01_count_parameters.c");
    free(grade_class(0, ""));
    char rest[64];
    snprintf(rest, sizeof rest, "%s/class-grades", work_folder);
    ProgramRun run = instructor("report", rest);
    ck_assert_int_eq(run.status, 0);
    check_has(run.out, "4 students: median 5.0, mean 3.8, least 0, most 5 of 100 points");
    check_has(run.out, "linear                    5    75 %      -   bias_forgotten (1)");
    check_has(run.out, "25 %  bias_forgotten");
    program_run_free(&run);
    work_folder_run("grep -q '^01 count_parameters,linear,5,4,3,,bias_forgotten,1' "
                    "class-grades/report.csv");
    work_folder_end();
}
END_TEST

START_TEST(a_secret_is_the_owners_and_is_never_replaced) {
    begin();
    char rest[64];
    struct stat what;
    snprintf(rest, sizeof rest, "%s/secret", work_folder);
    ProgramRun run = instructor("secret", rest);
    ck_assert_int_eq(run.status, 0);
    program_run_free(&run);
    ck_assert_int_eq(stat(rest, &what), 0);
    ck_assert_int_eq(what.st_mode & 0777, 0600);
    ck_assert_int_eq((int)what.st_size, 65);
    work_folder_run("cp secret before");
    run = instructor("secret", rest);
    check_refusal(&run, 3, "never replaced");
    work_folder_run("cmp secret before");
    work_folder_end();
}
END_TEST

START_TEST(mistakes_on_the_command_line_are_refused) {
    begin();
    ProgramRun run = program_run(instructor_path(), "grade-some x", PROGRAM_CAPTURED);
    check_refusal(&run, 2, "grade-some");
    run = program_run(instructor_path(), "grade-all", PROGRAM_CAPTURED);
    check_refusal(&run, 2, "grade-all");
    run = instructor("report", "/nowhere/at/all");
    check_refusal(&run, 3, "/nowhere/at/all");
    run = instructor("grade-all", "/nowhere/at/all");
    check_refusal(&run, 3, "/nowhere/at/all");
    work_folder_end();
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {a_broken_submission_costs_only_itself, 0},
        {what_is_graded_is_not_graded_again, 0},
        {a_roster_names_who_is_there_and_who_is_not, 0},
        {an_export_of_gradescope_has_addresses, 0},
        {a_report_says_how_cases_did, 0},
        {a_secret_is_the_owners_and_is_never_replaced, 0},
        {mistakes_on_the_command_line_are_refused, 0},
        {NULL, 0},
    };
    return harness_main("grading", tests);
}
