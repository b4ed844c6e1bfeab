// test_exercises_investigate.c -- exercises 00, 11 and 16, whose answers are text: the solution is
// right, the untouched file is not, each mutant is recognised, and hostile files are refused.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exercises/course/answers.h"
#include "exercises/course/sweep_text.h"
#include "exercises/course/text_file.h"
#include "exercises/grader/judge.h"
#include "exercises/lab/command.h"
#include "exercises/selftest/sections.h"
#include "tensor/memory.h"
#include "tests/helpers/harness.h"

extern const Exercise exercise_00, exercise_11, exercise_16;
enum { MOST_BYTES = 1 << 16, TEXTS = 3 };

// An exercise, and the file that its cases read beside the answers.
static const struct {
    const Exercise *exercise;
    const char *beside;
} texts[TEXTS] = {{&exercise_00, NULL}, {&exercise_11, "sweep.csv"}, {&exercise_16, "mystery.csv"}};

static char *text_of(const char *path) {
    char *text = file_read(NULL, path, MOST_BYTES, NULL);
    ck_assert_msg(text != NULL, "%s", path);
    return text;
}

typedef struct TextVerdict {
    int points, missing;
    char mistake[64], detail[CASE_LINE]; // those of the first wrong case
} TextVerdict;

static void lose(TextVerdict *verdict, const char *mistake, const char *detail) {
    if (verdict->detail[0]) return;
    snprintf(verdict->mistake, sizeof verdict->mistake, "%s", mistake ? mistake : "");
    snprintf(verdict->detail, sizeof verdict->detail, "%s", detail);
}

static void grade_case(const ExerciseCase *definition, Answers *answers, const CaseRun *run,
                       TextVerdict *verdict) {
    Reply reply = {.n_values = run->n_values};
    char problem[CASE_LINE];
    for (int i = 0; i < run->n_values; i++) {
        const ExpectedValue *expected = &run->values[i];
        AnswerEnd end = answers_value(answers, expected->name, expected, &reply.values[i], problem);
        verdict->missing += end == ANSWER_MISSING;
        if (end != ANSWER_GIVEN) {
            lose(verdict, NULL, problem);
            return;
        }
    }
    Verdict judged = judge(run, &reply);
    if (judged.right)
        verdict->points += definition->points;
    else
        lose(verdict, judged.mistake, definition->name);
}

static TextVerdict grade_text(const Exercise *exercise, char *text, const char *beside) {
    TextVerdict verdict = {0};
    Answers answers = {.name = exercise->answers, .text = text};
    for (int i = 0; i < exercise->n_cases; i++) {
        const ExerciseCase *definition = &exercise->cases[i];
        bool table = definition->beside && strcmp(definition->beside, exercise->answers) != 0;
        CaseRun run;
        DrawKey key = {.secret = "", .student = ""};
        ck_assert_int_eq(exercise_run_make(exercise, definition, key, 0, table ? beside : text,
                                           &run),
                         STATUS_OK);
        grade_case(definition, &answers, &run, &verdict);
    }
    return verdict;
}

// Grades the i-th text exercise: the answers in `folder`, with the file beside the solution.
static TextVerdict grade_folder(int i, const char *folder) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, texts[i].exercise->answers);
    char *text = text_of(path), *beside = NULL;
    snprintf(path, sizeof path, "exercises/solutions/%s", texts[i].beside ? texts[i].beside : "");
    if (texts[i].beside) beside = text_of(path);
    TextVerdict verdict = grade_text(texts[i].exercise, text, beside);
    memory_free(beside);
    memory_free(text);
    return verdict;
}

START_TEST(solutions_are_right) {
    TextVerdict verdict = grade_folder(_i, "exercises/solutions");
    ck_assert_msg(!verdict.detail[0], "%s: %s", verdict.detail, verdict.mistake);
    ck_assert_int_eq(verdict.points, texts[_i].exercise->points);
}
END_TEST

// Every case reports a missing answer.
START_TEST(untouched_files_lack_answers) {
    TextVerdict verdict = grade_folder(_i, "exercises");
    ck_assert_int_eq(verdict.points, 0);
    ck_assert_int_eq(verdict.missing, texts[_i].exercise->n_cases);
}
END_TEST

static void recognise_mutants(int i, int least) {
    char path[128];
    snprintf(path, sizeof path, "exercises/mutants/ex%s_%s.txt", texts[i].exercise->number,
             texts[i].exercise->name);
    char *mutants = text_of(path);
    snprintf(path, sizeof path, "exercises/solutions/%s", texts[i].exercise->answers);
    char *solution = text_of(path);
    snprintf(path, sizeof path, "exercises/solutions/%s", texts[i].beside);
    char *beside = text_of(path);
    const char *at = mutants;
    int count = 0;
    for (bool found = true;; count++) {
        Mutant mutant = {.source = NULL};
        ck_assert_int_eq(mutant_next(&at, solution, &mutant, &found), STATUS_OK);
        if (!found) break;
        TextVerdict verdict = grade_text(texts[i].exercise, mutant.source, beside);
        ck_assert_int_lt(verdict.points, texts[i].exercise->points);
        ck_assert_msg(strcmp(verdict.mistake, mutant.name) == 0, "%s is taken for '%s' (%s)",
                      mutant.name, verdict.mistake, verdict.detail);
        memory_free(mutant.source);
    }
    ck_assert_int_ge(count, least);
    memory_free(beside);
    memory_free(solution);
    memory_free(mutants);
}

START_TEST(each_mutant_is_recognised) { recognise_mutants(1 + _i, _i ? 13 : 21); }
END_TEST

START_TEST(a_guess_has_to_be_a_number) {
    static const char *const bad[] = {"-5", "0", "600 us", "nan", "0x20", "many", "?", ""};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char text[200];
        snprintf(text, sizeof text, "parameters = %s\nstep_megaflop = 3\nstep_microseconds = 1e9\n",
                 bad[i]);
        ck_assert_msg(grade_text(&exercise_00, text, NULL).detail[0], "%s", bad[i]);
    }
    char good[] = "parameters = 1\nstep_megaflop=3.5\n  step_microseconds = 1e9 # long\r\n";
    ck_assert(!grade_text(&exercise_00, good, NULL).detail[0]);
}
END_TEST

// Without a table its readings cannot be right, nor can a comparison without a prediction.
START_TEST(answers_need_what_they_are_about) {
    char *text = text_of("exercises/solutions/answers.txt");
    TextVerdict verdict = grade_text(&exercise_11, text, "batch,seconds\n1,2\n");
    ck_assert_str_eq(verdict.mistake, "sweep_unreadable");
    ck_assert_int_eq(verdict.points, 4);
    char *line = strstr(text, "predicted_knee = 16");
    memcpy(line, "predicted_knee = ? ", 19);
    ck_assert_int_eq(grade_text(&exercise_11, text, NULL).points, 2);
    memory_free(text);
}
END_TEST

// Nor can they be right if the record is invalid, or unmeasured, so that no cause shows.
START_TEST(a_mystery_needs_its_record) {
    char *text = text_of("exercises/solutions/mystery.txt");
    char *record = text_of("exercises/solutions/mystery.csv");
    TextVerdict verdict = grade_text(&exercise_16, text, "mystery,26\n");
    ck_assert_str_eq(verdict.mistake, "mystery_unreadable");
    ck_assert_int_eq(verdict.points, 0);
    char *cold = strstr(record, "DRAM");
    memcpy(cold, "L3  ", 4);
    verdict = grade_text(&exercise_16, text, record);
    ck_assert_str_eq(verdict.mistake, "mystery_unclear");
    ck_assert_int_eq(verdict.points, 0);
    memory_free(record);
    memory_free(text);
}
END_TEST

#define HEADER "batch,seconds,samples_per_second\n"
#define SEVEN "1,1,1\n2,1,2\n4,1,4\n8,1,8\n16,1,16\n32,1,32\n64,1,64\n"
START_TEST(tables_that_are_none_are_refused) {
    static const char *const tables[] = {
        "",
        "\n\n\n",
        HEADER,
        HEADER SEVEN,                 // too few rows
        SEVEN "128,1,128\n",          // no header
        HEADER SEVEN "128,1,120\n",   // contradicts itself
        HEADER SEVEN "100,1,100\n",   // not twice the one before
        HEADER SEVEN "128,1\n",       // two columns
        HEADER SEVEN "128,1,128,1\n", // four columns
        HEADER SEVEN "128,1,128 x\n", // text after them
        HEADER SEVEN "128,nan,nan\n", // no numbers
        HEADER SEVEN "128,inf,1\n",
        HEADER SEVEN "128,0,inf\n",
        HEADER SEVEN "128,-1,-128\n",
        HEADER SEVEN "0x80,1,128\n",
        HEADER SEVEN "128,1e999,0\n",
        HEADER SEVEN "128,1e-320,1e308\n",
        HEADER SEVEN ",,\n",
        HEADER SEVEN "=1+1,1,128\n",
        HEADER SEVEN "128,1,"
                     "1111111111111111111111111111111111111111111111111111111111111111"
                     "1111111111111111111111111111111111111111111111111111111111111111111111\n",
        HEADER HEADER SEVEN "128,1,128\n",
        "?\?\?\?ELF,1,2\n",
    };
    Sweep sweep;
    char problem[CASE_LINE];
    ck_assert(!sweep_read(NULL, &sweep, problem));
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        ck_assert_msg(!sweep_read(tables[i], &sweep, problem), "table %zu", i);
        ck_assert_msg(strstr(problem, "sweep.csv:") != NULL, "%s", problem);
    }
    ck_assert(sweep_read("# by hand\r\n\r\n" HEADER SEVEN "128,1,128", &sweep, problem));
    ck_assert_int_eq(sweep.n_rows, 8);
}
END_TEST

// 2^0 ... 2^25: one line more than fits, and each of them valid.
START_TEST(too_long_a_table_is_refused) {
    char text[4096] = HEADER, problem[CASE_LINE];
    Sweep sweep;
    for (int i = 0; i < 26; i++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%ld,1,%ld\n", 1L << i, 1L << i);
    }
    ck_assert(!sweep_read(text, &sweep, problem));
    ck_assert_ptr_nonnull(strstr(problem, "too many lines"));
}
END_TEST

START_TEST(the_knee_is_the_first_with_80_percent) {
    Sweep sweep;
    char problem[CASE_LINE], *text = text_of("exercises/solutions/sweep.csv");
    ck_assert_msg(sweep_read(text, &sweep, problem), "%s", problem);
    ck_assert_int_eq(sweep.rows[sweep.best].batch, 256);
    ck_assert_int_eq(sweep.rows[sweep.knee].batch, 64);
    memory_free(text);
    ck_assert(sweep_read(HEADER "1,0.1,10\n2,0.1,20\n4,0.125,32\n8,0.225,35.556\n16,0.4444,36\n"
                                "32,1,32\n64,2,32\n128,4,32\n",
                         &sweep, problem));
    ck_assert_int_eq(sweep.rows[sweep.knee].batch, 4);
}
END_TEST

// The grader reads the lab's file; a failure leaves no file.
START_TEST(a_real_sweep_is_read) {
    char path[100], problem[CASE_LINE];
    Sweep sweep;
    SweepOptions options = {.most_batch = 128, .iterations = 1};
    snprintf(path, sizeof path, "/tmp/sweep_%d.csv", (int)getpid());
    ck_assert_int_eq(sweep_write(path, options), STATUS_OK);
    char *text = text_of(path);
    unlink(path);
    ck_assert_msg(sweep_read(text, &sweep, problem), "%s", problem);
    ck_assert_int_eq(sweep.n_rows, 8);
    memory_free(text);
    options.iterations = 0;
    ck_assert_int_eq(sweep_write(path, options), STATUS_INVALID_ARGUMENT);
    ck_assert_int_ne(access(path, F_OK), 0);
    error_clear();
    options.most_batch = 0;
    ck_assert_int_eq(sweep_write(path, options), STATUS_INVALID_ARGUMENT);
    error_clear();
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {{solutions_are_right, TEXTS},
                                 {untouched_files_lack_answers, TEXTS},
                                 {each_mutant_is_recognised, 2},
                                 {a_guess_has_to_be_a_number, 0},
                                 {answers_need_what_they_are_about, 0},
                                 {a_mystery_needs_its_record, 0},
                                 {tables_that_are_none_are_refused, 0},
                                 {too_long_a_table_is_refused, 0},
                                 {the_knee_is_the_first_with_80_percent, 0},
                                 {a_real_sweep_is_read, 0},
                                 {NULL, 0}};
    return harness_main("exercises_investigate", tests);
}
