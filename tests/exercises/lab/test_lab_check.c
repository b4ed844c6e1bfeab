// test_lab_check.c -- ./lab check and ./lab grade from outside, with real files of a student: the
// skeletons, solutions, a known mistake, and code that ends in unusual ways.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exercises/course/exercise.h"
#include "exercises/course/text_file.h"
#include "exercises/lab/formats.h"
#include "exercises/selftest/sections.h"
#include "tensor/memory.h"
#include "tests/exercises/lab/lab_runs.h"
#include "tests/helpers/harness.h"

// Solves everything as student ada, in a course without a secret.
static void solve_all(void) {
    free(lab_run("questions --student ada", 0, "The numbers are those of ada-"));
    for (int i = 0; i < exercise_count; i++) {
        char name[96];
        snprintf(name, sizeof name, "%s_%s", exercises[i]->number, exercises[i]->name);
        if (!exercises[i]->answers) lab_solve(name);
    }
    static const char *const texts[] = {"predict.txt", "answers.txt", "sweep.csv"};
    for (int i = 0; i < 3; i++) {
        char from[96];
        snprintf(from, sizeof from, "exercises/solutions/%s", texts[i]);
        lab_copy(from, texts[i]);
    }
    lab_solve_by_hand("", "ada");
}

// Puts that mutant of exercise 02, beside right answers to everything else.
static void mistake(const char *name) {
    char *text = file_read(NULL, "exercises/mutants/ex02_count_flops.txt", 1 << 16, NULL);
    char *solution = file_read(NULL, "exercises/solutions/ex02_count_flops.c", 1 << 16, NULL);
    const char *at = text;
    Mutant mutant = {.name = ""};
    bool found = true;
    solve_all();
    while (found && strcmp(mutant.name, name) != 0) {
        memory_free(mutant.source);
        ck_assert_int_eq(mutant_next(&at, solution, &mutant, &found), STATUS_OK);
    }
    ck_assert_msg(found, "no mutant %s", name);
    lab_put("ex02_count_flops.c", mutant.source);
    memory_free(mutant.source);
    memory_free(text);
    memory_free(solution);
}

// Puts exercise 02 with this code as its function's body.
static void body(const char *code) {
    char text[2048];
    snprintf(text, sizeof text,
             "#include \"exercises/ex02_count_flops.h\"\n#include <stdio.h>\n#include <stdlib.h>\n"
             "Status count_flops(const Layer *model, Shape input, int64_t *flops) {\n"
             "    (void)model;\n    (void)input;\n    (void)flops;\n%s\n}\n",
             code);
    lab_put("ex02_count_flops.c", text);
}

// ---- everything --------------------------------------------------------------------------------
START_TEST(skeletons_are_skipped_and_worth_nothing) {
    lab_folder();
    char *out = lab_run("check", 0, "0 passed, 0 failed, ");
    for (int i = 0; i < exercise_count; i++) {
        char row[96], points[16];
        if (exercises[i]->points == 0) continue;
        snprintf(points, sizeof points, "0/%d", exercises[i]->points);
        snprintf(row, sizeof row, "%s  %-24s %7s   not ", exercises[i]->number, exercises[i]->name,
                 points);
        lab_assert_in(out, row);
    }
    free(out);
    lab_folder_remove();
}
END_TEST

START_TEST(solutions_pass_and_the_list_remembers_the_best) {
    lab_folder();
    solve_all();
    char *out = lab_run("check", 0, " passed, 0 failed, ");
    lab_assert_in(out, "02  count_flops                12/12   passed\n");
    free(out);
    free(lab_run("check 02", 0, "02 count_flops              12/12   PASS   all "));
    body("    return STATUS_NOT_IMPLEMENTED;");
    free(lab_run("check 02", 1, "NOT IMPLEMENTED"));
    free(lab_run("list", 0, "02  count_flops                   60      12    12   begun\n"));
    lab_folder_remove();
}
END_TEST

// ---- one failure -------------------------------------------------------------------------------
static void drop(char *text, const char *what) {
    for (char *at = strstr(text, what); at; at = strstr(text, what))
        memmove(at, at + strlen(what), strlen(at + strlen(what)) + 1);
}

START_TEST(the_failure_that_the_page_for_students_shows_is_a_real_one) {
    const char *folder = lab_folder();
    mistake("batch_multiplied");
    char *out = lab_run("check 02", 1, "batch_multiplied"), option[128];
    snprintf(option, sizeof option, " --files %s", folder);
    drop(out, option);
    char *look = strstr(out, folder);
    ck_assert_ptr_nonnull(look);
    char shown[4096];
    snprintf(shown, sizeof shown, "```\n%.*sexercises%s```\n", (int)(look - out), out,
             look + strlen(folder));
    char *page = file_read(NULL, "exercises/README.md", 1 << 16, NULL);
    lab_assert_in(page, shown);
    memory_free(page);
    free(out);
    lab_folder_remove();
}
END_TEST

START_TEST(each_way_to_end_has_its_word) {
    static const struct {
        const char *code, *word, *part;
    } rows[] = {
        {"    *(volatile int *)0 = 1;\n    return STATUS_OK;", "   CRASHED   ", "--gdb"},
        {"    for (volatile int i = 0;; i++) {\n    }", "   TIMED OUT   ", "did not end in time"},
        {"    *flops = 12;\n    return missing;", "   DOES NOT COMPILE   -", "missing"},
        {"    return system(\"true\") ? STATUS_OK : STATUS_IO;", "   NOT ALLOWED   ", "system"},
        {"    *flops = 12;\n    return STATUS_OK;", "   FAIL   ", "no known pattern, difference -"},
        {"    return STATUS_OK;", "   FAIL   ", "did not store a result"},
        {"    printf(\"here\\n\");\n    *flops = 12;\n    return STATUS_OK;", "   FAIL   ",
         "  printed    here\n"},
    };
    lab_folder();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        body(rows[i].code);
        char *out = lab_run("check 02 --case linear", 1, rows[i].word);
        lab_assert_in(out, rows[i].part);
        free(out);
    }
    lab_folder_remove();
}
END_TEST

START_TEST(case_seed_fuzz_and_all_do_what_they_say) {
    lab_folder();
    mistake("batch_multiplied");
    free(lab_run("check 02 --case linear_512_b64", 1, "02 count_flops              0/1   case"));
    free(lab_run("check 02 --case wide_64_bit", 0, "1/1   PASS   1 case\n"));
    free(lab_run("check 02 --case chain --seed 7", 1, " --case chain --seed 7\n"));
    char *out = lab_run("check 02 --all", 1, "case linear_512_b64   FAIL");
    lab_assert_in(out, "case chain   FAIL");
    free(out);
    lab_solve("02_count_flops");
    free(lab_run("check 02 --fuzz 20 --seed 3", 0, "PASS"));
    lab_folder_remove();
}
END_TEST

START_TEST(a_hidden_case_does_not_tell_its_input) {
    lab_folder();
    mistake("batch_multiplied");
    char *out = lab_run("check 02 --case network", 1, "hidden case network   FAIL");
    lab_assert_in(out, "likely     batch_multiplied");
    ck_assert(!strstr(out, "input ") && !strstr(out, "expected") && !strstr(out, "got"));
    free(out);
    lab_folder_remove();
}
END_TEST

// ---- grades ------------------------------------------------------------------------------------
START_TEST(a_grade_is_written_with_all_its_formats) {
    const char *folder = lab_folder();
    char arguments[256];
    mistake("batch_multiplied");
    snprintf(arguments, sizeof arguments, "grade %s --minimum 20", folder);
    char *out = lab_run_bare(arguments, 0, " points ");
    lab_assert_in(out, "confined   limits");
    free(out);
    snprintf(arguments, sizeof arguments, "grade %s --minimum 99", folder);
    free(lab_run_bare(arguments, 1, "minimum    99 points are asked for"));
    for (int i = -1; i < format_count; i++) {
        char *text = lab_take(i < 0 ? "result.json" : formats[i].file);
        lab_assert_in(text, "count_flops");
        free(text);
    }
    free(lab_take("times.json"));
    char *json = lab_take("result.json");
    lab_assert_in(json, "\"complete\": true");
    lab_assert_in(json, "batch_multiplied");
    free(json);
    lab_folder_remove();
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {skeletons_are_skipped_and_worth_nothing, 0},
        {solutions_pass_and_the_list_remembers_the_best, 0},
        {the_failure_that_the_page_for_students_shows_is_a_real_one, 0},
        {each_way_to_end_has_its_word, 0},
        {case_seed_fuzz_and_all_do_what_they_say, 0},
        {a_hidden_case_does_not_tell_its_input, 0},
        {a_grade_is_written_with_all_its_formats, 0},
        {NULL, 0},
    };
    return harness_main("lab_check", tests);
}
