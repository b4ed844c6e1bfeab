// test_keys.c -- the keys of students, and the parts that score only with one: questions by hand,
// and exercise 11. Whatever a student types, and wherever the grade is written, the answers are not
// in it.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exercises/course/sweep_text.h"
#include "exercises/course/text_file.h"
#include "exercises/lab/command.h"
#include "tensor/memory.h"
#include "tests/exercises/lab/lab_runs.h"
#include "tests/helpers/harness.h"

// ---- keys --------------------------------------------------------------------------------------
static void make_key(const char *secret, const char *student, char key[KEY_TEXT]) {
    char token[KEY_TOKEN];
    key_token(secret, student, token);
    key_write(student, token, key);
}

START_TEST(a_key_says_whose_it_is_and_each_mistyped_letter_is_found) {
    char key[KEY_TEXT], student[KEY_STUDENT], token[KEY_TOKEN], wanted[KEY_TOKEN];
    make_key("secret", "ada-m@x.edu", key);
    key_token("secret", "ada-m@x.edu", wanted);
    ck_assert(key_read(key, student, token));
    ck_assert_str_eq(student, "ada-m@x.edu");
    ck_assert_str_eq(token, wanted);
    int missed = 0;
    for (size_t i = 0; key[i]; i++) {
        char wrong[KEY_TEXT];
        memcpy(wrong, key, sizeof wrong);
        wrong[i] = wrong[i] == '7' ? '8' : '7';
        missed += key_read(wrong, student, token);
        wrong[i] = '\0';
        ck_assert(!key_read(wrong, student, token));
    }
    ck_assert_int_eq(missed, 0);
    for (char *c = key; *c; c++) *c = (char)toupper((unsigned char)*c);
    ck_assert(key_read(key, student, token));
    ck_assert_str_eq(token, wanted);
    static const char *const none[] = {"",
                                       "-",
                                       "ada",
                                       "ada-",
                                       "-7f3a2c91b04d55e1",
                                       "ada-7f3a2c91b04d55e",
                                       "ada-7f3a2c91b04d55e11"};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        ck_assert(!key_read(none[i], student, token));
}
END_TEST

START_TEST(a_key_is_of_one_name_and_one_secret) {
    char key[KEY_TEXT], other[KEY_TOKEN], token[KEY_TOKEN];
    make_key("secret", "Ada", key);
    ck_assert(key_is_of(key, "secret", "ada"));
    ck_assert(!key_is_of(key, "secret", "bob"));
    ck_assert(!key_is_of(key, "another", "ada"));
    ck_assert(!key_is_of("ada-7f3a2c91b04d55e1", "secret", "ada"));
    key_token("secret", "ada", token);
    key_token("secret", "adb", other);
    ck_assert_str_ne(token, other);
}
END_TEST

// Questions depend on the key and the grade alone: not on the seed, nor on the code's runs.
START_TEST(questions_are_drawn_from_the_key_alone) {
    char token[KEY_TOKEN];
    CaseRun *home = memory_new(sizeof *home), *grade_run = memory_new(sizeof *grade_run);
    key_token("secret", "ada", token);
    const Exercise *exercise = exercise_by_number("01");
    const ExerciseCase *by_hand = &exercise->cases[0], *linear = &exercise->cases[1];
    ck_assert_ptr_nonnull(by_hand->by_hand);
    DrawKey at_home = {.secret = "", .student = "ada", .token = token};
    DrawKey at_grade = {.secret = "secret", .student = "ada"};
    exercise_run_make(exercise, by_hand, at_home, 0, NULL, home);
    exercise_run_make(exercise, by_hand, at_grade, 0, NULL, grade_run);
    ck_assert_str_eq(home->shown, grade_run->shown);
    at_grade.secret = "another";
    exercise_run_make(exercise, by_hand, at_grade, 0, NULL, grade_run);
    ck_assert_str_ne(home->shown, grade_run->shown);
    exercise_run_make(exercise, linear, at_home, 2, NULL, home);
    exercise_run_make(exercise, linear, at_grade, 2, NULL, grade_run);
    ck_assert_str_ne(home->input, grade_run->input); // the key does not reveal hidden numbers
    memory_free(home);
    memory_free(grade_run);
}
END_TEST

// ---- practice ----------------------------------------------------------------------------------
START_TEST(practice_has_the_numbers_of_the_page_and_shows_the_way) {
    lab_folder();
    lab_put("by_hand.txt", "01_bytes = 1\n02_flops_of_batch = 33554432\n02_milliseconds = 0.671\n"
                           "04_ridge = 2\n04_bound = cannot_tell\n06_latency_ms = 10.5\n"
                           "08_adam_megabytes = 2000\n");
    static const char *const rows[][3] = {
        {"check 02 --case by_hand_flops", "expected   33554432", "64 * 2 * 512 * 512"},
        {"check 02 --case by_hand_milliseconds", "0/1   case", "1000 *"},
        {"check 04 --case by_hand_ridge", "PRACTICE", "100 / 50"},
        {"check 04 --case by_hand_bound", "PRACTICE", "ask for the intensity"},
        {"check 06 --case median_by_hand", "PRACTICE", "take the third"},
        {"check 08 --case adam_by_hand", "whoami KEY", "(4 + 4 + 8) bytes"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *out = lab_run(rows[i][0], 0, rows[i][1]);
        lab_assert_in(out, rows[i][2]);
        free(out);
    }
    char *wrong = lab_run("check 01 --case by_hand", 1, "expected   226676736");
    lab_assert_in(wrong, "4 * 12 *");
    free(wrong);
    lab_folder_remove();
}
END_TEST

START_TEST(practice_does_not_score_and_the_name_or_key_does) {
    const char *folder = lab_text_folder();
    char arguments[512], secret[300], key[KEY_TEXT];
    lab_solve_by_hand("", "");
    snprintf(arguments, sizeof arguments, "grade %s", folder);
    free(lab_run_bare(arguments, 0, "no --student: questions by hand do not score"));
    char *csv = lab_take("result.csv");
    lab_assert_in(csv, ",01 count_parameters,by_hand,practice,,0,1\r\n");
    free(csv);
    lab_put("secret", "of the course\n");
    make_key("of the course", "ada", key);
    snprintf(arguments, sizeof arguments, "whoami %s", key);
    free(lab_run(arguments, 0, "the numbers are yours now"));
    free(lab_run("whoami", 0, key));
    free(lab_run("questions --student ada", 0, key)); // an existing key stays
    lab_solve_by_hand("of the course", "ada");
    free(lab_run("check 01 --case by_hand", 0, "1/1   PASS"));
    snprintf(secret, sizeof secret, "%s/secret", folder);
    snprintf(arguments, sizeof arguments, "grade %s --secret %s --student ada", folder, secret);
    free(lab_run_bare(arguments, 0, "7 of 100 points"));
    snprintf(arguments, sizeof arguments, "grade %s --secret %s --student bob", folder, secret);
    free(lab_run_bare(arguments, 0, "of 100 points"));
    csv = lab_take("result.csv");
    lab_assert_in(csv, "bob,01 count_parameters,by_hand,wrong,");
    free(csv);
    lab_put("MANIFEST", "# key ada-000000000000aaaa\n");
    free(lab_run_bare(arguments, 0, "0 of 100 points"));
    csv = lab_take("result.csv");
    lab_assert_in(csv, "bob,01 count_parameters,by_hand,other_key,,0,1\r\n");
    free(csv);
    // Exercise 11 has no numbers from the key, but an owner.
    lab_copy("exercises/solutions/answers.txt", "answers.txt");
    lab_copy("exercises/solutions/sweep.csv", "sweep.csv");
    free(lab_run_bare(arguments, 0, "8 of 100 points"));
    snprintf(arguments, sizeof arguments, "# key %s\n", key);
    lab_put("MANIFEST", arguments);
    snprintf(arguments, sizeof arguments, "grade %s --student bob", folder);
    free(lab_run_bare(arguments, 0, "0 of 100 points"));
    csv = lab_take("result.csv");
    lab_assert_in(csv, "bob,11 investigate,explain,other_key,,0,2\r\n");
    free(csv);
    snprintf(arguments, sizeof arguments, "grade %s --student ADA", folder);
    free(lab_run_bare(arguments, 0, "8 of 100 points"));
    lab_folder_remove();
}
END_TEST

// ---- one's own sweep ---------------------------------------------------------------------------
START_TEST(a_sweep_is_of_the_key_that_it_was_measured_with) {
    char token[KEY_TOKEN], other[KEY_TOKEN], problem[CASE_LINE] = "", path[100];
    Sweep sweep;
    key_token("secret", "ada", token);
    key_token("secret", "bob", other);
    SweepOptions options = {.most_batch = 128, .iterations = 1, .token = token};
    snprintf(path, sizeof path, "/tmp/sealed_%d.csv", (int)getpid());
    ck_assert_int_eq(sweep_write(path, options), STATUS_OK);
    char *text = file_read(NULL, path, 1 << 16, NULL);
    unlink(path);
    ck_assert_msg(sweep_read(text, &sweep, problem), "%s", problem);
    ck_assert(sweep_is_of(&sweep, token, problem));
    ck_assert(sweep_is_of(&sweep, "", problem)); // practice accepts any owner
    ck_assert(!sweep_is_of(&sweep, other, problem));
    lab_assert_in(problem, "another key");
    sweep.rows[3].seconds *= 0.999;
    ck_assert(!sweep_is_of(&sweep, token, problem));
    memory_free(text);
    text = file_read(NULL, "exercises/solutions/sweep.csv", 1 << 16, NULL);
    ck_assert(sweep_read(text, &sweep, problem)); // from before keys existed
    ck_assert(sweep_is_of(&sweep, token, problem));
    memory_free(text);
    int64_t sizes[SWEEP_SIZES], others[SWEEP_SIZES];
    sweep_sizes("", sizes);
    ck_assert(sizes[1] == 512 && sizes[2] == 256);
    sweep_sizes(token, sizes);
    sweep_sizes(other, others);
    ck_assert(memcmp(sizes, others, sizeof sizes) != 0);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {a_key_says_whose_it_is_and_each_mistyped_letter_is_found, 0},
        {a_key_is_of_one_name_and_one_secret, 0},
        {questions_are_drawn_from_the_key_alone, 0},
        {practice_has_the_numbers_of_the_page_and_shows_the_way, 0},
        {practice_does_not_score_and_the_name_or_key_does, 0},
        {a_sweep_is_of_the_key_that_it_was_measured_with, 0},
        {NULL, 0},
    };
    return harness_main("keys", tests);
}
