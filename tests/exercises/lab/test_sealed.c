// test_sealed.c -- questions by hand with a key, and exercise 11: whatever a student types, and
// wherever the grade is written, the right answer and the way to it are not in it.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exercises/course/key.h"
#include "exercises/course/text_file.h"
#include "exercises/grader/judge.h"
#include "exercises/lab/formats.h"
#include "tensor/memory.h"
#include "tests/exercises/lab/lab_runs.h"
#include "tests/helpers/harness.h"

// Answers each question with its mistake number `index`, or, if it has none, with a wrong number.
static void answer_wrongly(const DrawKey *key, int index) {
    char text[4096] = "", value[VALUE_TEXT];
    CaseRun *run = memory_new(sizeof *run);
    for (int i = 0; i < exercise_count; i++)
        for (int k = 0; k < exercises[i]->n_cases; k++) {
            const ExerciseCase *one = &exercises[i]->cases[k];
            size_t used = strlen(text);
            if (!one->by_hand) continue;
            exercise_run_make(exercises[i], one, *key, 0, NULL, run);
            ExpectedValue *expected = &run->values[0];
            Value wrong = expected->value;
            if (index < run->n_mistakes)
                wrong = run->mistakes[index].wrong;
            else if (expected->kind == VALUE_REAL)
                wrong.real = 77.25;
            else if (expected->kind == VALUE_INTEGER)
                wrong.integer = 7;
            else
                wrong.integer = (wrong.integer + 1) % 3;
            snprintf(text + used, sizeof text - used, "%s = %s\n", one->by_hand,
                     value_text(expected, wrong, value));
        }
    memory_free(run);
    lab_put("by_hand.txt", text);
}

// True if the number is in the text, and not as a part of another one.
static bool has_number(const char *text, const char *number) {
    size_t length = strlen(number);
    for (const char *at = strstr(text, number); at; at = strstr(at + 1, number)) {
        bool begins = at == text || !strchr("0123456789.", at[-1]);
        if (begins && !strchr("0123456789.", at[length])) return true;
    }
    return false;
}

// Checks that no answer is in the text, except short numbers, which appear everywhere.
static void assert_sealed(const DrawKey *key, const char *text, const char *where) {
    char value[VALUE_TEXT];
    CaseRun *run = memory_new(sizeof *run);
    for (int i = 0; i < exercise_count; i++)
        for (int k = 0; k < exercises[i]->n_cases; k++) {
            const ExerciseCase *one = &exercises[i]->cases[k];
            if (!one->by_hand) continue;
            exercise_run_make(exercises[i], one, *key, 0, NULL, run);
            value_text(&run->values[0], run->values[0].value, value);
            bool told = run->values[0].kind != VALUE_WORD && strlen(value) > 3;
            told = told && !strstr(run->shown, value) && has_number(text, value);
            ck_assert_msg(!told, "%s tells %s: %s", where, one->by_hand, value);
            ck_assert_msg(!strstr(text, run->formula), "%s tells %s", where, run->formula);
        }
    memory_free(run);
}

START_TEST(no_wrong_answer_is_told_the_right_one_anywhere) {
    const char *folder = lab_text_folder();
    char arguments[512], token[KEY_TOKEN], key[KEY_TEXT];
    static const char *const runs[] = {
        "check 01",       "check 02 --all", "check 04 --all --seed 3", "check 06 --all --fuzz 2",
        "check 08 --all", "questions"};
    DrawKey draw = {.secret = "", .student = "ada"};
    key_token("", "ada", token);
    key_write("ada", token, key);
    snprintf(arguments, sizeof arguments, "whoami %s", key);
    free(lab_run(arguments, 0, "ada"));
    answer_wrongly(&draw, _i);
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
        char *out = lab_run(runs[i], strcmp(runs[i], "questions") ? 1 : 0, "");
        assert_sealed(&draw, out, runs[i]);
        ck_assert(!strstr(out, "difference") && !strstr(out, "  expected "));
        if (_i == 0 && i == 1) lab_assert_in(out, "likely     mac_vs_flop");
        free(out);
    }
    snprintf(arguments, sizeof arguments, "grade %s --student ada", folder);
    char *out = lab_run_bare(arguments, 0, "of 100 points");
    assert_sealed(&draw, out, "grade");
    free(out);
    for (int i = -1; i < format_count; i++) {
        const char *name = i < 0 ? "result.json" : formats[i].file;
        char *text = lab_take(name);
        assert_sealed(&draw, text, name);
        ck_assert(!strstr(text, "\"expected\"") && !strstr(text, "\"formula\""));
        free(text);
    }
    lab_folder_remove();
}
END_TEST

// With or without a key: the file is the student's own, and the key may come later.
START_TEST(what_is_read_off_a_sweep_is_not_told) {
    const char *folder = lab_text_folder();
    char arguments[300];
    char *text = file_read(NULL, "exercises/solutions/answers.txt", 1 << 16, NULL);
    static const char *const lines[] = {"measured_knee = 64 ", "seconds_at_knee = 0.000254",
                                        "gain = 14.16", "prediction = too_low",
                                        "why_below = few_share_the_weights"};
    for (int i = 0; i < 5; i++) {
        char *at = strstr(text, lines[i]);
        ck_assert_msg(at != NULL, "%s", lines[i]);
        at = strchr(at, '=') + 2;
        if (i < 3)
            *at = '9';
        else
            memcpy(at, i == 3 ? "right  " : "clock_too_coarse     ", i == 3 ? 7 : 21);
    }
    lab_put("answers.txt", text);
    memory_free(text);
    lab_copy("exercises/solutions/sweep.csv", "sweep.csv");
    char *out = lab_run("check 11 --all", 1, "likely ");
    snprintf(arguments, sizeof arguments, "grade %s", folder);
    free(lab_run_bare(arguments, 0, "of 100 points"));
    for (int i = -2; i < format_count; i++) {
        char *told = i == -2 ? out : lab_take(i < 0 ? "result.json" : formats[i].file);
        static const char *const secrets[] = {"64 ",        " 0.000254",  " 14.16",
                                              "few_share",  "expected  ", "\"expected\"",
                                              "\"formula\""};
        for (size_t k = 0; k < sizeof secrets / sizeof secrets[0]; k++) {
            if (k == 0 && i > -2) continue; // a number that appears everywhere
            ck_assert_msg(!strstr(told, secrets[k]), "%d tells %s: %.60s", i, secrets[k],
                          strstr(told, secrets[k]));
        }
        free(told);
    }
    lab_folder_remove();
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {no_wrong_answer_is_told_the_right_one_anywhere, 4},
        {what_is_read_off_a_sweep_is_not_told, 0},
        {NULL, 0},
    };
    return harness_main("sealed", tests);
}
