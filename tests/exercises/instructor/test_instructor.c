// test_instructor.c -- an instructor's other tasks for a class: keys and answers, a gradebook,
// points for written answers, mistakes without a name, and copies.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "exercises/course/exercise.h"
#include "exercises/course/key.h"
#include "tests/exercises/instructor/class_runs.h"
#include "tests/helpers/harness.h"
#include "tests/helpers/work_folder.h"

enum { TEXT = 4096 };

// A wrong value without a mistake's name is a mistake that the course does not know yet.
START_TEST(a_report_says_what_nobody_recognised_and_where_to_look) {
    class_begin();
    work_folder_run(
        "cat >lab <<'END'\n"
        "#!/bin/sh\n"
        "case $(cat $2/ex01_count_parameters.c) in odd) m=null ;; *) m='\"bias_forgotten\"' ;; "
        "esac\n"
        "cat >$4/result.json <<J\n"
        "{\"student\": \"$6\", \"points\": 0, \"most_points\": 100,\n"
        " \"exercises\": [{\"number\": \"01\", \"name\": \"count_parameters\", \"cases\": [\n"
        "  {\"name\": \"linear\", \"state\": \"wrong\", \"points\": 0,\n"
        "   \"most_points\": 5, \"mistake\": $m}]}]}\n"
        "J\n"
        "END\n"
        "cd class; for s in amy bob cid dan; do mkdir $s\n"
        "echo known >$s/ex01_count_parameters.c; done\n"
        "echo odd >amy/ex01_count_parameters.c; echo odd >dan/ex01_count_parameters.c");
    free(class_grade(0, ""));
    char rest[64];
    snprintf(rest, sizeof rest, "%s/class-grades", work_folder);
    ProgramRun run = class_instructor("report", rest);
    ck_assert_int_eq(run.status, 0);
    class_assert_in(run.out,
                    "wrong values that no known mistake explains: 2 of 4 (50 %)\n"
                    "  01 count_parameters linear (2): ex01_count_parameters.c of amy, dan\n");
    program_run_free(&run);
    work_folder_run("grep -q '^01 count_parameters,linear,5,4,0,,bias_forgotten,2,2' "
                    "class-grades/report.csv");
    work_folder_end();
}
END_TEST

START_TEST(points_of_answers_in_writing_are_merged) {
    class_begin();
    work_folder_run("cd class; mkdir amy bob cid; for s in amy bob cid\n"
                    "do echo right >$s/ex01_count_parameters.c; done\n"
                    "printf 'student,points\\namy,3\\nzoe,2\\n\"bob\", 0\\n' >../written.csv");
    char option[128];
    snprintf(option, sizeof option, "--written %s/written.csv", work_folder);
    char *csv = class_grade(0, option);
    class_assert_in(csv, ",16,written,total,note\r\n");
    class_assert_in(csv, "\namy,,graded,5,100,0,");
    work_folder_run("grep -q '^amy,.*,0,3,8,.$' class-grades/class.csv\n"
                    "grep -q '^bob,.*,0,0,5,.$' class-grades/class.csv\n"
                    "grep -q '^cid,.*,0,,5,.$' class-grades/class.csv");
    free(csv);
    static const char *const wrong[] = {"amy,x", "amy,-1", "amy,3.5", "amy,4\npossible,3"};
    for (int i = 0; i < 4; i++) {
        char command[256];
        snprintf(command, sizeof command, "printf '%s\\n' >written.csv", wrong[i]);
        work_folder_run(command);
        snprintf(command, sizeof command, "%s/class %s", work_folder, option);
        ProgramRun run = class_instructor("grade-all", command);
        class_refused(&run, 3, i < 3 ? "written points of amy" : "4 of 3 possible");
    }
    work_folder_end();
}
END_TEST

// Canvas needs its columns, the second line, and empty cells for unknown points.
START_TEST(a_gradebook_is_what_canvas_imports) {
    class_begin();
    work_folder_run(
        "cd class; mkdir amy bob dan; echo right >amy/ex01_count_parameters.c\n"
        "echo wrong >bob/ex01_count_parameters.c; echo die >dan/ex01_count_parameters.c\n"
        "printf 'student,name,id,section\\namy,\"Ay, Amy\",17,B1\\nzoe,=1+1,18,@B2\\n' "
        ">../roster.csv\n"
        "printf 'amy,3\\npossible,4\\n' >../written.csv");
    char option[192];
    snprintf(option, sizeof option,
             "--roster %s/roster.csv --written %s/written.csv "
             "--assignment Lab=1",
             work_folder, work_folder);
    free(class_grade(1, option));
    work_folder_run("printf '%s\\r\\n' 'Student,ID,SIS Login ID,Section,Lab=1,\"Lab=1, written\"' "
                    "'    Points Possible,,,,100,4' '\"Ay, Amy\",17,amy,B1,5,3' 'bob,,bob,,0,' "
                    "'dan,,dan,,,' \"\\\"'=1+1\\\",18,zoe,\\\"'@B2\\\",,\" >wanted\n"
                    "diff wanted class-grades/gradebook.csv");
    work_folder_end();
}
END_TEST

START_TEST(answers_are_of_the_keys_that_are_handed_out) {
    class_begin();
    work_folder_run("echo hidden >secret; printf 'student,name\\nada,Ada L\\nbob,\\n' >roster");
    char rest[256];
    snprintf(rest, sizeof rest, "%s/roster --secret %s/secret --output %s/out", work_folder,
             work_folder, work_folder);
    ProgramRun run = class_instructor("answers", rest);
    ck_assert_msg(run.status == 0, "%s", run.err);
    program_run_free(&run);
    CaseRun *asked = calloc(1, sizeof *asked);
    const Exercise *exercise = exercise_by_number("01");
    DrawKey key = {.secret = "hidden", .student = "ada"};
    char token[KEY_TOKEN], text[KEY_TEXT], command[512];
    exercise_run_make(exercise, &exercise->cases[0], key, 0, NULL, asked);
    key_token("hidden", "ada", token);
    key_write("ada", token, text);
    snprintf(
        command, sizeof command,
        "grep -q '^ada,Ada L,%s.$' out/keys.csv; grep -q '^ada,01_bytes,%lld,' out/answers.csv\n"
        "grep -q '^ada (Ada L)   %s$' out/answers.txt; test $(wc -l <out/keys.csv) = 3\n"
        "test $(stat -c %%a out) = 700; test $(grep -c ^bob, out/answers.csv) = 7",
        text, (long long)asked->values[0].value.integer, text);
    work_folder_run(command);
    free(asked);
    snprintf(rest, sizeof rest, "zoe,eve --output %s/out", work_folder);
    run = class_instructor("answers", rest);
    ck_assert_int_eq(run.status, 0);
    class_assert_in(run.out, "without a secret");
    program_run_free(&run);
    work_folder_run("test $(wc -l <out/keys.csv) = 3; grep -q '^eve,,eve-' out/keys.csv");
    work_folder_end();
}
END_TEST

// The grader judges by the key in the manifest; a manifest alone is no submission.
START_TEST(the_manifest_is_handed_to_the_grader) {
    class_begin();
    work_folder_run(
        "sed -i 's|^output=.*|&; cp $2/MANIFEST $4/seen|' lab; mkdir class/amy class/bob\n"
        "echo '# key amy-1' | tee class/amy/MANIFEST >class/bob/MANIFEST\n"
        "echo right >class/amy/ex01_count_parameters.c");
    char *csv = class_grade(1, "");
    class_assert_in(csv, "\namy,,graded,5,");
    class_assert_in(csv, "\nbob,,refused,0,");
    free(csv);
    work_folder_run("cmp class/amy/MANIFEST class-grades/amy/seen");
    work_folder_end();
}
END_TEST

// ---- copies ------------------------------------------------------------------------------------
START_TEST(text_answers_that_were_copied_are_seen) {
    class_begin();
    work_folder_run(
        "cd class; mkdir amy bob cid dan; printf '01_bytes = 12345\\n02_flops_of_batch=77\\n"
        "04_ridge = 3.5\\n04_bound = memory\\n' >amy/by_hand.txt\n"
        "sed 's/=/ =  /; s/$/ # mine/' amy/by_hand.txt >cid/by_hand.txt\n"
        "sed 's/77/78/' amy/by_hand.txt >bob/by_hand.txt\n"
        "printf '01_bytes =\\n04_bound = memory\\n' | tee dan/by_hand.txt >/dev/null\n"
        "printf 'batch,seconds,samples_per_second\\n1,.5,2\\n2,0.5,4\\n4,0.5,8\\n8,0.5,16\\n' "
        ">bob/sweep.csv; (cat bob/sweep.csv; echo '# sealed 0123456789abcdef') >dan/sweep.csv\n"
        "printf 'mystery,7\\nfc1,.5,2\\nstep,0.5\\npage_faults,1\\noff_the_cores,0\\n' "
        ">amy/mystery.csv; (cat amy/mystery.csv; echo '# sealed 0123456789abcdef') "
        "| tee bob/mystery.csv | sed 's/,1/,2/' >cid/mystery.csv");
    char rest[64];
    snprintf(rest, sizeof rest, "%s/class", work_folder);
    ProgramRun run = class_instructor("similar", rest);
    ck_assert_msg(run.status == 0, "%s", run.err);
    class_assert_in(run.out, "the same numbers to the last digit\n  by_hand.txt  amy, cid\n"
                             "  sweep.csv    bob, dan\n"
                             "  mystery.csv  amy, bob\n"
                             "a sweep.csv that does not say whose it is\n  bob\n"
                             "a mystery.csv that does not say whose it is\n  amy\n");
    program_run_free(&run);
    work_folder_end();
}
END_TEST

// Submissions from the sections of tests/fixtures/similar.txt, with or without the copies.
static ProgramRun compare_class(const char *copies) {
    char command[TEXT], here[1024];
    class_begin();
    ck_assert_ptr_nonnull(getcwd(here, sizeof here));
    snprintf(command, sizeof command,
             "awk -v copies=%s '/^== / { file = NF > 2 && !copies ? \"\" : \"class/\" $2 "
             "\"/ex01_count_parameters.c\"; if (file) system(\"mkdir class/\" $2); next }\n"
             "file { print >file }' '%s/tests/fixtures/similar.txt'",
             copies, here);
    work_folder_run(command);
    snprintf(command, sizeof command, "%s/class", work_folder);
    return class_instructor("similar", command);
}

START_TEST(copies_are_found_however_they_are_hidden) {
    ProgramRun run = compare_class("1");
    ck_assert_msg(run.status == 0, "%s", run.err);
    class_assert_in(run.out, "01 count_parameters: 105 pairs");
    class_assert_in(run.out, " of reordered, ");
    class_assert_in(run.out, " of sorted ");
    class_assert_in(run.out, " of padded, ");
    class_assert_in(run.out, " of stack ");
    class_assert_in(run.out, " of linked, ");
    class_assert_in(run.out, " of renamed ");
    ck_assert_int_eq(program_count_lines(run.out), 1 + 3 + 2);
    program_run_free(&run);
    work_folder_end();
}
END_TEST

START_TEST(twelve_who_worked_alone_are_not_accused) {
    ProgramRun run = compare_class("0");
    ck_assert_msg(run.status == 0, "%s", run.err);
    class_assert_in(run.out, "01 count_parameters: 66 pairs");
    class_assert_in(run.out, "stand out\n  none\n");
    ck_assert_int_eq(program_count_lines(run.out), 1 + 1 + 2);
    program_run_free(&run);
    work_folder_end();
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {a_report_says_what_nobody_recognised_and_where_to_look, 0},
        {points_of_answers_in_writing_are_merged, 0},
        {a_gradebook_is_what_canvas_imports, 0},
        {answers_are_of_the_keys_that_are_handed_out, 0},
        {the_manifest_is_handed_to_the_grader, 0},
        {text_answers_that_were_copied_are_seen, 0},
        {copies_are_found_however_they_are_hidden, 0},
        {twelve_who_worked_alone_are_not_accused, 0},
        {NULL, 0},
    };
    return harness_main("instructor", tests);
}
