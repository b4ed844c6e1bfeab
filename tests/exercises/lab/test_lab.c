// test_lab.c -- ./lab from outside, without student code: list, help, hints, pages, questions,
// skeletons, the archive, and refusals. test_lab_check.c runs code.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exercises/course/exercise.h"
#include "tests/exercises/lab/lab_runs.h"
#include "tests/helpers/harness.h"

// ---- the list ----------------------------------------------------------------------------------
START_TEST(the_list_has_every_exercise_and_says_what_to_type_next) {
    lab_folder();
    char *out = lab_run("list", 0, "not started");
    for (int i = 0; i < exercise_count; i++) {
        char row[128];
        snprintf(row, sizeof row, "\n%s  %-24s %7d %7d", exercises[i]->number, exercises[i]->name,
                 exercises[i]->minutes, exercises[i]->points);
        lab_assert_in(out, row);
    }
    lab_assert_in(out, "  next       ");
    lab_assert_in(out, "./lab check ");
    lab_assert_in(out, "questions by hand are practice: ./lab whoami KEY\n");
    free(out);
    free(lab_run("questions --student ada", 0, "those of ada-"));
    out = lab_run("list", 0, "  next       ");
    ck_assert(!strstr(out, "whoami"));
    free(out);
    lab_folder_remove();
}
END_TEST

START_TEST(the_list_begins_with_what_to_read_and_for_how_long) {
    lab_folder();
    char *out = lab_run("list", 0, "  first      read exercises/reading.md: 15 minutes\n");
    ck_assert_ptr_eq(strstr(out, "  first "), out);
    lab_assert_in(out, "predict.txt and fill it in:");
    lab_assert_in(out, "10 minutes\n  then       ./lab check 00\n");
    free(out);
    lab_put("predict.txt", "parameters = 500000\nstep_megaflop = 200\nstep_microseconds = 9000\n");
    free(lab_run("check 00", 0, "00"));
    out = lab_run("list", 0, "  first      read exercises/reading.md");
    lab_assert_in(out, "read exercises/ex01_count_parameters.h\n");
    lab_assert_in(out, "30 minutes\n  then       ./lab check 01\n");
    free(out);
    lab_put(".lab/progress.json",
            "{\"schema\": \"ridgepoint.progress/v1\", \"student\": \"\", \"exercise\": \"01\", "
            "\"mistake\": \"\", \"exercises\": {\"01\": {\"best\": 3, \"last\": 3, \"hints\": 0, "
            "\"state\": \"wrong\"}}}");
    out = lab_run("list", 0, "  next       ");
    ck_assert_ptr_null(strstr(out, "reading.md"));
    free(out);
    lab_folder_remove();
}
END_TEST

START_TEST(help_names_every_command_and_each_has_its_own) {
    static const char *const commands[] = {"list",      "check",  "watch",  "hint",    "explain",
                                           "questions", "reset",  "submit", "profile", "sweep",
                                           "grade",     "whoami", "mystery"};
    char *out = lab_run_bare("--help", 0, "./lab [COMMAND]");
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        char text[64];
        snprintf(text, sizeof text, "\n  %s ", commands[i]);
        lab_assert_in(out, text);
        snprintf(text, sizeof text, "%s --help", commands[i]);
        free(lab_run_bare(text, 0, "--files DIR"));
    }
    free(out);
}
END_TEST

START_TEST(what_is_wrong_on_the_command_line_is_refused_in_one_line) {
    static const struct {
        const char *arguments;
        int status;
        const char *first, *second;
    } rows[] = {
        {"chek", 2, "chek", "no such command"},
        {"check 77", 2, "77", "no such exercise"},
        {"check 01 02", 2, "02", "unexpected argument"},
        {"check 01 --case nothing", 2, "nothing", "no such case"},
        {"check --case linear", 2, "--case", "needs an exercise"},
        {"check --gdb", 2, "--gdb", "needs an exercise"},
        {"check 01 --seed", 2, "--seed", "needs a value"},
        {"check 01 --seed x", 2, "--seed x", "whole number"},
        {"check 01 --seed -1", 2, "--seed -1", "from 0"},
        {"check 01 --fuzz 0", 2, "--fuzz 0", "from 1"},
        {"check --colour", 2, "--colour", "unknown option"},
        {"hint", 2, "hint", "./lab hint 02"},
        {"hint 01 --level 4", 2, "--level 4", "from 1 to 3"},
        {"explain ../README", 2, "../README", "no such page"},
        {"explain mac_flop", 2, "mac_flop", "did you mean mac_vs_flop?"},
        {"reset", 2, "reset", "needs an argument"},
        {"whoami ada", 2, "ada", "a key looks like"},
        {"whoami ada-7f3a2c91b04d55e1", 2, "ada-7f3a", "mistyped"},
        {"grade", 2, "grade", "needs an argument"},
        {"watch", 2, "watch", "needs a terminal"},
        {"check --files /nowhere", 3, "/nowhere", "No such file"},
        {"grade /nowhere", 3, "/nowhere", "No such file"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        lab_refused(rows[i].arguments, rows[i].status, rows[i].first, rows[i].second);
}
END_TEST

// ---- help for students -------------------------------------------------------------------------
START_TEST(hints_go_one_level_further_each_time_and_are_remembered) {
    lab_folder();
    free(lab_run("hint 02", 0, "hint 1 of 3 for 02 count_flops\n"));
    free(lab_run("hint count_flops", 0, "hint 2 of 3"));
    free(lab_run("hint 2", 0, "hint 3 of 3"));
    free(lab_run("hint 2", 0, "hint 3 of 3"));
    free(lab_run("hint 2 --level 1", 0, "hint 1 of 3"));
    free(lab_run("hint 2", 0, "hint 3 of 3"));
    free(lab_run("hint 01", 0, "hint 1 of 3 for 01 count_parameters\n"));
    lab_folder_remove();
}
END_TEST

START_TEST(every_exercise_has_three_hints) {
    lab_folder();
    for (int i = 0; i < exercise_count; i++)
        for (int level = 1; level <= 3; level++) {
            char arguments[64], heading[64];
            snprintf(arguments, sizeof arguments, "hint %s --level %d", exercises[i]->number,
                     level);
            snprintf(heading, sizeof heading, "hint %d of 3 for %s", level, exercises[i]->number);
            free(lab_run(arguments, 0, heading));
        }
    lab_folder_remove();
}
END_TEST

START_TEST(pages_are_listed_and_shown) {
    free(lab_run_bare("explain", 0, "\nmac_vs_flop "));
    free(lab_run_bare("explain mac_vs_flop", 0, "16,384"));
}
END_TEST

START_TEST(questions_have_the_numbers_of_the_student_who_asks) {
    lab_folder();
    char *practice = lab_run("questions 01", 0, "(none yet)");
    lab_put("by_hand.txt", "# mine\n01_bytes = 12 # or so\n");
    free(lab_run("questions 01", 0, "  answer     12\n"));
    unlink("by_hand.txt");
    char *all = lab_run("questions", 0, "before 08 memory");
    char *own = lab_run("questions 01 --student jane", 0, "before 01 count_parameters");
    char *again = lab_run("questions 01", 0, "before 01 count_parameters");
    ck_assert_str_ne(own, practice);
    ck_assert_str_eq(own, again);
    free(practice);
    free(all);
    free(own);
    free(again);
    lab_folder_remove();
}
END_TEST

// ---- files -------------------------------------------------------------------------------------
START_TEST(reset_brings_the_skeleton_back_and_keeps_what_was_written) {
    lab_folder();
    char *skeleton = lab_take("ex02_count_flops.c");
    lab_put("ex02_count_flops.c", "mine\n");
    char *out = lab_run("reset 02", 0, "is the skeleton again");
    char *kept = strstr(out, ".lab/backup/");
    ck_assert_ptr_nonnull(kept);
    kept[strcspn(kept, "\n")] = '\0';
    char *mine = lab_take(kept), *now = lab_take("ex02_count_flops.c");
    ck_assert_str_eq(mine, "mine\n");
    ck_assert_str_eq(now, skeleton);
    char *second = lab_run("reset 02", 0, "is the skeleton again");
    ck_assert(!strstr(second, "backup"));
    char *const texts[] = {skeleton, out, mine, now, second};
    for (int i = 0; i < 5; i++) free(texts[i]);
    lab_folder_remove();
}
END_TEST

static void shell(const char *command) {
    ck_assert_msg(system(command) == 0, "%s", command); // NOLINT: our own command
}

START_TEST(the_archive_holds_what_is_graded_with_its_sums_and_the_same_bytes_each_time) {
    const char *folder = lab_folder();
    char arguments[256], command[1024];
    lab_solve("01_count_parameters");
    lab_put("by_hand.txt", "01_bytes = 1\n");
    snprintf(arguments, sizeof arguments, "submit --output %s/a.tar", folder);
    lab_refused(arguments, 2, "./lab whoami KEY", "whose is it?");
    free(lab_run("questions --student ada", 0, "those of ada-"));
    snprintf(arguments, sizeof arguments, "submit --output %s/a.tar", folder);
    char *out = lab_run(arguments, 0, "ex02_count_flops.c is the untouched skeleton");
    ck_assert(!strstr(out, "ex01_count_parameters.c"));
    free(out);
    snprintf(arguments, sizeof arguments, "submit --output %s/b.tar", folder);
    free(lab_run(arguments, 0, "SHA-256"));
    snprintf(command, sizeof command,
             "cd %s && cmp a.tar b.tar && mkdir out && tar xf a.tar -C out && cd out && "
             "sha256sum --quiet -c MANIFEST && head -n 1 MANIFEST | grep -qx '# key ada-.*' && cmp "
             "ex01_count_parameters.c "
             "../ex01_count_parameters.c && cmp by_hand.txt ../by_hand.txt",
             folder);
    shell(command);
    lab_folder_remove();
}
END_TEST

START_TEST(what_is_missing_is_said_and_packed_without) {
    const char *folder = lab_folder();
    char arguments[256], path[256];
    snprintf(path, sizeof path, "%s/ex01_count_parameters.c", folder);
    ck_assert_int_eq(unlink(path), 0);
    free(lab_run("questions --student ada", 0, "those of ada-"));
    snprintf(arguments, sizeof arguments, "submit --output %s/a.tar", folder);
    free(lab_run(arguments, 0, "ex01_count_parameters.c is missing"));
    lab_folder_remove();
}
END_TEST

START_TEST(a_broken_score_file_is_refused_and_says_what_to_do) {
    const char *folder = lab_folder();
    char command[256];
    free(lab_run("hint 01", 0, "hint 1"));
    snprintf(command, sizeof command, "printf '{\"schema\": 7' >%s/.lab/progress.json", folder);
    shell(command);
    lab_refused("list", 3, "progress.json", "HINT: remove the file");
    lab_folder_remove();
}
END_TEST

// A machine that reads and writes at different rates: the roofline for comparison uses the two
// ceilings that a student's function gets.
START_TEST(the_courses_own_numbers_are_the_librarys) {
    const char *folder = lab_folder();
    char arguments[256];
    lab_put("machine.json", "{\"peak_flops_per_second\": 150e9, \"levels\": [\n"
                            "{\"name\": \"L2\", \"bytes\": 4194304, \"bytes_per_second\": 90e9},\n"
                            "{\"name\": \"DRAM\", \"bytes\": null, \"bytes_per_second\": 20e9,\n"
                            " \"fill_bytes_per_second\": 40e9, \"move_bytes_per_second\": 31e9}]}");
    snprintf(arguments, sizeof arguments,
             "profile --files exercises/solutions --peaks %s/machine.json", folder);
    // Memory still alive at the end belongs to the measured files, and does not matter here.
    setenv("LSAN_OPTIONS", "detect_leaks=0", 1);
    char *out = lab_run_bare(arguments, 0, "ceilings 150.0 GFLOP/s and 20.0 GB/s (DRAM)");
    static const char *const rows[] = {"parameters ", "bytes written ", "intensity, ",
                                       "ridge, ",     "roof, us ",      "bound ",
                                       "its FLOPs ",  "gradients, "};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char row[32];
        snprintf(row, sizeof row, "\n  %s", rows[i]);
        lab_assert_in(out, row);
        lab_assert_in(strstr(out, row), "same\n");
    }
    lab_assert_in(out, "  ridge, FLOP/B                         7.50              7.50   same\n");
    const char *other =
        strstr(out, "DIFFERENT") ? strstr(out, "DIFFERENT") : strstr(out, "(exercise ");
    ck_assert_msg(!other, "%.300s", other - (other - out < 80 ? other - out : 80));
    free(out);
    lab_folder_remove();
}
END_TEST

START_TEST(a_sweep_writes_a_row_for_each_batch) {
    char arguments[128];
    snprintf(arguments, sizeof arguments, "sweep --most 4 --files %s", lab_folder());
    ProgramRun run = program_run(program_path("lab"), arguments, PROGRAM_CAPTURED);
    bool busy = run.status == 1 && strstr(run.err, "other work") != NULL;
    char *csv;
    ck_assert_msg(busy || run.status == 0, "%s%s", run.out, run.err);
    program_run_free(&run);
    if (busy) {
        lab_folder_remove();
        test_skip("other work has the cores");
    }
    csv = lab_take("sweep.csv");
    lab_assert_in(csv, "batch,seconds,samples_per_second\n1,");
    lab_assert_in(csv, "\n4,");
    ck_assert(!strstr(csv, "\n8,"));
    free(csv);
    lab_folder_remove();
}
END_TEST

// If other work keeps every core busy there is no sweep, and the old one stays.
START_TEST(a_sweep_refuses_noise) {
    enum { MOST = 64 };
    pid_t others[MOST];
    int count = (int)(3 * sysconf(_SC_NPROCESSORS_ONLN));
    if (count > MOST) test_skip("too many cores to keep busy");
    const char *folder = lab_folder();
    lab_put("sweep.csv", "of before\n");
    for (int i = 0; i < count; i++) {
        others[i] = fork();
        if (others[i] == 0) { // a safety net: ends by itself
            alarm(60);
            for (volatile unsigned turn = 0;; turn++) {
            }
        }
    }
    char arguments[128];
    snprintf(arguments, sizeof arguments, "sweep --files %s", folder);
    ProgramRun run = program_run(program_path("lab"), arguments, PROGRAM_CAPTURED);
    for (int i = 0; i < count; i++) {
        kill(others[i], SIGKILL);
        waitpid(others[i], NULL, 0);
    }
    ck_assert_msg(run.status == 1, "%d: %s%s", run.status, run.out, run.err);
    lab_assert_in(run.err, "other work had");
    ck_assert_int_eq(program_count_lines(run.err), 1);
    program_run_free(&run);
    char *csv = lab_take("sweep.csv");
    ck_assert_str_eq(csv, "of before\n");
    free(csv);
    lab_folder_remove();
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {the_list_has_every_exercise_and_says_what_to_type_next, 0},
        {the_list_begins_with_what_to_read_and_for_how_long, 0},
        {help_names_every_command_and_each_has_its_own, 0},
        {what_is_wrong_on_the_command_line_is_refused_in_one_line, 0},
        {hints_go_one_level_further_each_time_and_are_remembered, 0},
        {every_exercise_has_three_hints, 0},
        {pages_are_listed_and_shown, 0},
        {questions_have_the_numbers_of_the_student_who_asks, 0},
        {reset_brings_the_skeleton_back_and_keeps_what_was_written, 0},
        {the_archive_holds_what_is_graded_with_its_sums_and_the_same_bytes_each_time, 0},
        {what_is_missing_is_said_and_packed_without, 0},
        {the_courses_own_numbers_are_the_librarys, 0},
        {a_sweep_refuses_noise, 0},
        {a_sweep_writes_a_row_for_each_batch, 0},
        {a_broken_score_file_is_refused_and_says_what_to_do, 0},
        {NULL, 0},
    };
    return harness_main("lab", tests);
}
