// test_grading.c -- an instructor's run over a class: submissions found and refused, grading
// resumed, the written results. A small script replaces the lab program; the grader's tests cover a
// student's code.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/exercises/instructor/class_runs.h"
#include "tests/helpers/harness.h"
#include "tests/helpers/work_folder.h"

enum { TEXT = 4096 };

static int count_calls(void) {
    char path[64], line[TEXT];
    int count = 0;
    snprintf(path, sizeof path, "%s/calls", work_folder);
    FILE *file = fopen(path, "r");
    while (fgets(line, sizeof line, file)) count++;
    fclose(file);
    return count;
}

// ---- a class -----------------------------------------------------------------------------------
START_TEST(a_broken_submission_costs_only_itself) {
    class_begin();
    work_folder_run(
        "cd class; mkdir -p amy bob/exercises dan eve .hidden nobody; echo hello >README\n"
        "echo right >amy/ex01_count_parameters.c\n"
        "echo wrong >bob/exercises/ex01_count_parameters.c\n"
        "echo die >dan/ex01_count_parameters.c\n"
        "ln -s /etc/passwd eve/ex01_count_parameters.c; ln -s /etc fay\n"
        "mkdir exercises; cp amy/* exercises; tar cf gus.tar exercises; rm -r exercises\n"
        "mkdir hal; tar cf hal/submission.tar -C amy ./ex01_count_parameters.c\n"
        "head -c 3000 /dev/urandom >ian.tar");
    char *csv = class_grade(1, "");
    class_assert_in(csv, "student,name,state,points,most,stretch,");
    class_assert_in(csv, "\namy,,graded,5,100,0,0,5,");
    class_assert_in(csv, "\nbob,,graded,0,100,0,0,");
    class_assert_in(csv, "\ndan,,failed,0,0,0,0,");
    class_assert_in(csv, "\neve,,refused,0,100,");
    class_assert_in(csv, "\nfay,,refused,0,100,");
    class_assert_in(csv, "\ngus,,graded,5,100,");
    class_assert_in(csv, "\nhal,,graded,5,100,");
    class_assert_in(csv, "\nian,,refused,0,100,");
    class_assert_in(csv, "\nnobody,,refused,0,100,");
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
    class_begin();
    work_folder_run("cd class; mkdir amy bob; echo right >amy/ex01_count_parameters.c\n"
                    "echo wrong >bob/ex01_count_parameters.c; echo s >../secret");
    char *first = class_grade(0, ""), *second = class_grade(0, "");
    ck_assert_int_eq(count_calls(), 2);
    ck_assert_str_eq(first, second);
    work_folder_run("echo right >class/bob/ex01_count_parameters.c");
    char *third = class_grade(0, "");
    ck_assert_int_eq(count_calls(), 3);
    class_assert_in(third, "\nbob,,graded,5,");
    work_folder_run("echo mine >class/amy/by_hand.notes; touch class/amy/*");
    free(class_grade(0, ""));
    ck_assert_int_eq(count_calls(), 3); // no graded file has changed
    free(class_grade(0, "--again"));
    ck_assert_int_eq(count_calls(), 5);
    char option[64];
    snprintf(option, sizeof option, "--secret %s/secret", work_folder);
    free(class_grade(0, option)); // another seed
    ck_assert_int_eq(count_calls(), 7);
    work_folder_run("echo '# another grader' >>lab");
    free(class_grade(0, option));
    ck_assert_int_eq(count_calls(), 9);
    work_folder_run("rm class-grades/amy/result.json; echo '{' >class-grades/bob/result.json");
    char *last = class_grade(0, option);
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
    class_begin();
    work_folder_run(
        "cd class; mkdir amy bob; echo right >amy/ex01_count_parameters.c\n"
        "echo right >bob/ex01_count_parameters.c\n"
        "printf 'student,name\\r\\nAmy,\"Amy \"\"A\"\", Ay\"\\r\\nzoe,=1+1\\n' >../roster.csv");
    char option[64];
    snprintf(option, sizeof option, "--roster %s/roster.csv", work_folder);
    char *csv = class_grade(0, option);
    class_assert_in(csv, "\namy,\"Amy \"\"A\"\", Ay\",graded,5,");
    class_assert_in(csv, "\nbob,,graded,5,");
    class_assert_in(csv, "\nzoe,\"'=1+1\",absent,0,0,"); // must not be a spreadsheet formula
    free(csv);
    work_folder_end();
}
END_TEST

START_TEST(an_export_of_gradescope_has_addresses) {
    class_begin();
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
        "submission_3:\n" // its name is no address
        "  :submitters:\n"
        "  - :name: ':email: \"jane@x.edu\"'\n"
        "    :email: eve@x.edu\n"
        "END\n"
        "mkdir submission_3; echo wrong >submission_3/ex01_count_parameters.c\n"
        "echo right >submission_1/ex01_count_parameters.c\n"
        "echo wrong >submission_22/ex01_count_parameters.c");
    char *csv = class_grade(0, "");
    class_assert_in(csv, "\njane@x.edu,Jane Doe,graded,5,");
    class_assert_in(csv, "\no@x.edu,O'Hara,graded,0,");
    class_assert_in(csv, "\neve@x.edu,");
    work_folder_run("grep -qx jane@x.edu calls; test -f class-grades/jane@x.edu/result.json");
    free(csv);
    work_folder_end();
}
END_TEST

START_TEST(a_report_says_how_cases_did) {
    class_begin();
    work_folder_run(
        "cd class; for s in a b c d; do mkdir $s; echo right >$s/ex01_count_parameters.c\n"
        "done; echo wrong >d/ex01_count_parameters.c");
    free(class_grade(0, ""));
    char rest[64];
    snprintf(rest, sizeof rest, "%s/class-grades", work_folder);
    ProgramRun run = class_instructor("report", rest);
    ck_assert_int_eq(run.status, 0);
    class_assert_in(run.out, "4 students: median 5.0, mean 3.8, least 0, most 5 of 100 points");
    class_assert_in(run.out, "linear                    5    75 %      -   bias_forgotten (1)");
    class_assert_in(run.out, "25 %  bias_forgotten");
    program_run_free(&run);
    work_folder_run("grep -q '^01 count_parameters,linear,5,4,3,,bias_forgotten,1' "
                    "class-grades/report.csv");
    work_folder_end();
}
END_TEST

START_TEST(a_secret_is_the_owners_and_is_never_replaced) {
    class_begin();
    char rest[64];
    struct stat what;
    snprintf(rest, sizeof rest, "%s/secret", work_folder);
    ProgramRun run = class_instructor("secret", rest);
    ck_assert_int_eq(run.status, 0);
    program_run_free(&run);
    ck_assert_int_eq(stat(rest, &what), 0);
    ck_assert_int_eq(what.st_mode & 0777, 0600);
    ck_assert_int_eq((int)what.st_size, 65);
    work_folder_run("cp secret before");
    run = class_instructor("secret", rest);
    class_refused(&run, 3, "never replaced");
    work_folder_run("cmp secret before");
    work_folder_end();
}
END_TEST

START_TEST(mistakes_on_the_command_line_are_refused) {
    class_begin();
    ProgramRun run = program_run(instructor_path(), "grade-some x", PROGRAM_CAPTURED);
    class_refused(&run, 2, "grade-some");
    run = program_run(instructor_path(), "grade-all", PROGRAM_CAPTURED);
    class_refused(&run, 2, "grade-all");
    run = class_instructor("report", "/nowhere/at/all");
    class_refused(&run, 3, "/nowhere/at/all");
    run = class_instructor("grade-all", "/nowhere/at/all");
    class_refused(&run, 3, "/nowhere/at/all");
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
