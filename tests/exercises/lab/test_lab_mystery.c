// test_lab_mystery.c -- ./lab mystery from outside: invalid seeds, the files of a valid one, its
// record from measuring to the grade, and a folder that cannot be written.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exercises/course/mystery_record.h"
#include "tests/exercises/lab/lab_runs.h"
#include "tests/helpers/harness.h"

START_TEST(what_is_no_seed_is_refused) {
    static const char *const seeds[] = {
        "0", "1000000", "7x", "x", "1.5", "1e3", "99999999999999999999"};
    lab_text_folder();
    for (size_t i = 0; i < sizeof seeds / sizeof seeds[0]; i++) {
        char arguments[64];
        snprintf(arguments, sizeof arguments, "mystery %s", seeds[i]);
        lab_refused(arguments, 2, seeds[i], "from 1 to 999999");
    }
    lab_refused("mystery", 2, "mystery", "SEED");
    lab_folder_remove();
}
END_TEST

// In seed 3 the loader starves the step, which neither other work nor a sanitizer hides. With a key
// the record is sealed, and its answers are right.
START_TEST(a_mystery_is_written_solved_and_graded) {
    static const char *const files[] = {"report.txt",     "page.html",  "explain.txt",
                                        "one_thread.txt", "layers.csv", "profile.json"};
    lab_text_folder();
    free(lab_run("questions --student ada", 0, "those of ada-"));
    char *out = lab_run("mystery 3", 0, "mystery 3: what takes the time, and why?");
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char name[64];
        snprintf(name, sizeof name, "mystery/%s", files[i]);
        lab_assert_in(out, name);
        char *text = lab_take(name);
        ck_assert_msg(strstr(text, "starved") == NULL, "%s tells", name);
        free(text);
    }
    free(out);
    char *csv = lab_take("mystery.csv");
    lab_assert_in(csv, "mystery,3\nrow,seconds,");
    lab_assert_in(csv, "\n# sealed ");
    MysteryRecord record;
    char problem[CASE_LINE], answers[200];
    ck_assert_msg(mystery_read(csv, &record, problem), "%s", problem);
    snprintf(answers, sizeof answers, "layer = loader\ncause = starved_loader\nseconds = %.3g\n",
             record.rows[PLACE_LOADER].seconds);
    lab_put("mystery.txt", answers);
    free(lab_run("check 16", 0, "6/6"));
    csv[strlen("mystery,")] = '4'; // claims another seed
    lab_put("mystery.csv", csv);
    free(lab_run("check 16", 1, "changed since; write it"));
    free(csv);
    lab_folder_remove();
}
END_TEST

// Recorded on a quiet machine and passed on: all files are there, and the record is the student's.
START_TEST(a_recorded_mystery_is_taken_as_if_it_were_measured) {
    char there[128], arguments[512];
    snprintf(there, sizeof there, "%s", lab_text_folder());
    free(lab_run("questions --student ada", 0, "those of ada-"));
    snprintf(arguments, sizeof arguments,
             "mkdir %s/other && cp exercises/solutions/mystery.csv "
             "%s/other && mkdir %s/other/mystery",
             there, there, there);
    ck_assert_int_eq(system(arguments), 0);
    char *csv = lab_take("other/mystery.csv");
    MysteryRecord record;
    char problem[CASE_LINE];
    ck_assert_msg(mystery_read(csv, &record, problem), "%s", problem);
    free(csv);
    snprintf(arguments, sizeof arguments, "mystery %d --recorded %s/other", (int)record.seed,
             there);
    lab_refused(arguments, 3, "report.txt", "cannot be read"); // half of the files are missing
    static const char *const files[] = {"report.txt",     "page.html",  "explain.txt",
                                        "one_thread.txt", "layers.csv", "profile.json"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char name[64];
        snprintf(name, sizeof name, "other/mystery/%s", files[i]);
        lab_put(name, "as it was\n");
    }
    free(lab_run(arguments, 0, "what takes the time, and why?"));
    csv = lab_take("mystery.csv");
    lab_assert_in(csv, "\n# sealed ");
    free(csv);
    char *report = lab_take("mystery/report.txt");
    ck_assert_str_eq(report, "as it was\n");
    free(report);
    snprintf(arguments, sizeof arguments, "mystery %d --recorded %s/other", (int)record.seed + 1,
             there);
    lab_refused(arguments, 3, "mystery.csv", "is of mystery");
    snprintf(arguments, sizeof arguments, "rm -r %s/other %s/mystery", there, there);
    ck_assert_int_eq(system(arguments), 0);
    lab_folder_remove();
}
END_TEST

// If the folder cannot be made, the old record stays.
START_TEST(a_folder_that_cannot_be_is_told) {
    lab_text_folder();
    lab_put("mystery", "a file\n");
    lab_put("mystery.csv", "of before\n");
    lab_refused("mystery 3", 3, "mystery", "exists");
    char *csv = lab_take("mystery.csv");
    ck_assert_str_eq(csv, "of before\n");
    free(csv);
    lab_folder_remove();
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {{what_is_no_seed_is_refused, 0},
                                 {a_mystery_is_written_solved_and_graded, 0},
                                 {a_recorded_mystery_is_taken_as_if_it_were_measured, 0},
                                 {a_folder_that_cannot_be_is_told, 0},
                                 {NULL, 0}};
    return harness_main("lab_mystery", tests);
}
