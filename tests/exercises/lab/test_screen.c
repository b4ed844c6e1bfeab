// test_screen.c -- the screen of a failure: its form to the letter, 80 columns in every case,
// secrets that it must not show; and the relation of a wrong value to the right one.
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "exercises/grader/judge.h"
#include "exercises/lab/screen.h"
#include "exercises/support/worker.h"
#include "tensor/memory.h"
#include "tests/helpers/harness.h"

// ---- a grade by hand ---------------------------------------------------------------------------
typedef struct Sample {
    ExerciseCase cases[2];
    Exercise exercise;
    CaseRun run;
    CaseResult results[2];
    ExerciseResult result;
    GradeResult grade;
} Sample;

// count_flops with 12 of 15 points: the batch was multiplied in.
static void sample_fill(Sample *s) {
    *s = (Sample){.cases = {{.name = "linear_512_b64", .points = 3, .runs = 1},
                            {.name = "relu", .points = 1, .runs = 1}}};
    s->exercise = (Exercise){.number = "02",
                             .name = "count_flops",
                             .function = "count_flops",
                             .points = 15,
                             .cases = s->cases,
                             .n_cases = 2};
    snprintf(s->run.shown, CASE_LINE, "Linear(512 -> 512, bias)   batch 64");
    snprintf(s->run.asked, CASE_LINE, "FLOPs for ONE sample");
    snprintf(s->run.formula, CASE_LINE, "2 * in * out = 2 * 512 * 512");
    s->run.n_values = 1;
    s->run.values[0] = (ExpectedValue){.kind = VALUE_INTEGER, .value.integer = 524288};
    s->results[0] = (CaseResult){.definition = &s->cases[0],
                                 .state = CASE_WRONG,
                                 .asked = &s->run,
                                 .got.integer = 33554432,
                                 .mistake = "batch_multiplied"};
    s->results[1] = (CaseResult){.definition = &s->cases[1], .state = CASE_PASSED, .points = 1};
    s->result = (ExerciseResult){.exercise = &s->exercise,
                                 .cases = s->results,
                                 .n_cases = 2,
                                 .points = 12,
                                 .most_points = 15,
                                 .lines = {41}};
    s->grade = (GradeResult){.seed = 7, .exercises = &s->result, .n_exercises = 1};
}

static char *screen_of(const Sample *s, bool colour) {
    Page page = {.colour = colour};
    Failure failure = failure_of(&s->grade, &s->result, &s->results[0], "exercises");
    screen_failure(&page, &failure);
    ck_assert(!page.failed);
    return page.text;
}

static void assert_contains(const char *text, const char *what) {
    ck_assert_msg(strstr(text, what) != NULL, "lacks \"%s\":\n%s", what, text);
}

START_TEST(a_failure_reads_as_the_page_for_students_says) {
    Sample s;
    sample_fill(&s);
    char *text = screen_of(&s, false);
    ck_assert_str_eq(
        text, "02 count_flops              12/15   case linear_512_b64   FAIL   -3\n"
              "  input      Linear(512 -> 512, bias)   batch 64\n"
              "             asked: FLOPs for ONE sample\n"
              "  expected   524288      = 2 * in * out = 2 * 512 * 512\n"
              "  got        33554432    = expected * 64\n"
              "  likely     batch_multiplied: the result is per sample; multiply by the batch\n"
              "             only in profile_forward_pass\n"
              "  look at    exercises/ex02_count_flops.c:41  count_flops()\n"
              "  again      ./lab check 02 --case linear_512_b64 --seed 7\n"
              "  more       ./lab hint 02   ./lab explain batch_multiplied\n");
    memory_free(text);
}
END_TEST

// If a file has several functions, the screen names the one that the case calls.
START_TEST(the_function_that_failed_is_named) {
    Sample s;
    sample_fill(&s);
    s.exercise.function = "count_macs count_flops";
    s.result.lines[1] = 73;
    s.cases[0].function = 1;
    char *text = screen_of(&s, false);
    assert_contains(text, "  look at    exercises/ex02_count_flops.c:73  count_flops()\n");
    memory_free(text);
    s.cases[0].function = 0;
    text = screen_of(&s, false);
    assert_contains(text, "  look at    exercises/ex02_count_flops.c:41  count_macs()\n");
    memory_free(text);
}
END_TEST

START_TEST(an_unknown_mistake_says_how_far_off_it_is) {
    Sample s;
    sample_fill(&s);
    s.results[0].mistake = NULL;
    s.results[0].got.integer = 587203;
    char *text = screen_of(&s, false);
    assert_contains(text, "likely     no known pattern, difference +12 %\n");
    ck_assert(!strstr(text, "explain"));
    memory_free(text);
}
END_TEST

START_TEST(each_end_has_a_word_of_its_own) {
    Sample s;
    for (int a = 0; a < CASE_STATE_COUNT; a++) {
        ck_assert(screen_word((CaseState)a) && screen_word((CaseState)a)[0]);
        for (int b = 0; b < a; b++)
            ck_assert_str_ne(screen_word((CaseState)a), screen_word((CaseState)b));
        sample_fill(&s);
        if (a == CASE_PASSED || a == CASE_WRONG) continue;
        s.results[0].state = (CaseState)a;
        s.results[0].mistake = NULL;
        s.results[0].asked = NULL;
        snprintf(s.results[0].detail, CASE_LINE, "signal 11 (Segmentation fault)");
        char *text = screen_of(&s, false);
        assert_contains(text, screen_word((CaseState)a));
        ck_assert(!strstr(text, "expected"));
        if (a == CASE_CRASHED) assert_contains(text, "by a signal: signal 11 (Segmentation");
        if (a == CASE_CRASHED) assert_contains(text, "--gdb");
        memory_free(text);
    }
}
END_TEST

START_TEST(a_hidden_case_shows_its_kind_and_the_misconception_only) {
    static const char *const secrets[] = {"512",           "524288",   "33554432",
                                          "* 64",          "in * out", "batch 64",
                                          "FLOPs for ONE", "--case",   "difference"};
    char printed[] = "in 512 out 512 batch 64";
    for (int known = 0; known < 2; known++) {
        Sample s;
        sample_fill(&s);
        s.cases[0].hidden = true;
        s.cases[0].name = "a_large_linear";
        if (!known) s.results[0].mistake = NULL;
        s.results[0].output = printed;
        char *text = screen_of(&s, false);
        for (size_t i = 0; i < sizeof secrets / sizeof secrets[0]; i++)
            ck_assert_msg(!strstr(text, secrets[i]), "tells %s:\n%s", secrets[i], text);
        assert_contains(text, "hidden case a_large_linear   FAIL   -3");
        if (known) assert_contains(text, "batch_multiplied");
        memory_free(text);
    }
}
END_TEST

START_TEST(a_wrong_status_and_a_result_never_stored_are_said_in_words) {
    Sample s;
    sample_fill(&s);
    s.results[0].value = -1;
    s.results[0].status = STATUS_SHAPE;
    char *text = screen_of(&s, false);
    assert_contains(text, "expected   STATUS_OK (ok)\n");
    assert_contains(text, "got        STATUS_SHAPE (shape mismatch)\n");
    memory_free(text);
    sample_fill(&s);
    s.results[0].got.integer = POISON_INTEGER;
    text = screen_of(&s, false);
    assert_contains(text, "got        nothing: the function did not store a result\n");
    memory_free(text);
}
END_TEST

START_TEST(what_a_compiler_says_is_cut_to_its_errors) {
    char text[] = "ex02_count_flops.c: In function 'count_flops':\n"
                  "ex02_count_flops.c:24:5: warning: unused variable 'x' [-Wunused-variable]\n"
                  "   24 |     int x;\n"
                  "      |         ^\n"
                  "ex02_count_flops.c:25:13: error: expected ';' before 'return'\n"
                  "   25 |     (void)x\n"
                  "      |            ^\n"
                  "      |            ;\n"
                  "   26 |     return 0;\n"
                  "      |     ~~~~~~\n"
                  "cc1: all done\n";
    Sample s;
    sample_fill(&s);
    compiler_shorten(text);
    ck_assert_str_eq(text, "ex02_count_flops.c:25:13: error: expected ';' before 'return'\n"
                           "   25 |     (void)x\n"
                           "      |            ^\n");
    s.results[0].state = CASE_NOT_COMPILED;
    s.results[0].mistake = NULL;
    s.result.compiler = text;
    snprintf(s.results[0].detail, CASE_LINE, "error: expected ';' before 'return'");
    char *screen = screen_of(&s, false);
    assert_contains(screen, "             ex02_count_flops.c:25:13: error: expected ';' before");
    assert_contains(screen, "  got        the file does not compile\n"); // the reason appears once
    memory_free(screen);
    snprintf(s.results[0].detail, CASE_LINE, "it does not define count_flops");
    screen = screen_of(&s, false);
    assert_contains(screen, "does not compile: it does not define count_flops\n");
    memory_free(screen);
}
END_TEST

// ---- 80 columns --------------------------------------------------------------------------------
// The width by the C library's table of characters, not ours.
static int widest_line(const char *text) {
    int widest = 0, column = 0;
    mbstate_t state = {0};
    while (*text) {
        wchar_t c;
        size_t bytes = mbrtowc(&c, text, 4, &state);
        ck_assert_msg(bytes > 0 && bytes <= 4, "broken UTF-8 at \"%.20s\"", text);
        if (c != L'\n') ck_assert_msg(wcwidth(c) >= 0, "a control character, %x", (unsigned)c);
        column = c == L'\n' ? 0 : column + wcwidth(c);
        widest = column > widest ? column : widest;
        text += bytes;
    }
    return widest;
}

// Appends words, long words, wide characters, broken UTF-8, control characters.
static void hostile_text(char *text, size_t size) {
    static const char *const parts[] = {"a",
                                        "word ",
                                        "\xe6\xbc\xa2",
                                        "\xf0\x9f\x98\x80",
                                        "\xff\xfe",
                                        "\033[31m",
                                        "\n",
                                        "\r",
                                        "\t",
                                        "\xc3\xa9",
                                        "0123456789",
                                        "  ",
                                        "%s",
                                        "]]>",
                                        "\xe2\x80\xae",
                                        "\x7f",
                                        "underscore_and_more",
                                        "\xed\xa0\x80"};
    size_t used = 0, wanted = (size_t)rand() % size;
    text[0] = '\0';
    while (used < wanted) {
        const char *part = parts[(size_t)rand() % (sizeof parts / sizeof parts[0])];
        if (used + strlen(part) >= size) break;
        used += (size_t)snprintf(text + used, size - used, "%s", part);
    }
}

START_TEST(no_line_is_wider_than_80_columns) {
    ck_assert_ptr_nonnull(setlocale(LC_CTYPE, "C.UTF-8"));
    srand(1);
    static char name[32], case_name[32], compiler[2000];
    for (int i = 0; i < 3000; i++) {
        Sample s;
        sample_fill(&s);
        memset(name, 'n', (size_t)(i % 31));
        memset(case_name, 'c', (size_t)(i / 31 % 31));
        name[i % 31] = case_name[i / 31 % 31] = '\0';
        s.exercise.name = name;
        s.cases[0].name = case_name;
        s.cases[0].points = rand() % 1000;
        hostile_text(s.run.shown, CASE_LINE);
        hostile_text(s.run.asked, CASE_LINE);
        hostile_text(s.run.formula, CASE_LINE);
        hostile_text(s.results[0].detail, CASE_LINE);
        hostile_text(compiler, sizeof compiler);
        s.run.values[0].value.integer = (int64_t)rand() * rand() * (rand() % 3 - 1);
        s.results[0].got.integer = (int64_t)rand() << rand() % 30;
        s.results[0].state = (CaseState)(1 + rand() % (CASE_STATE_COUNT - 1));
        if (rand() % 2) s.results[0].mistake = NULL;
        s.result.compiler = compiler;
        s.results[0].output = compiler;
        s.grade.seed = (uint64_t)rand() << 32;
        char *text = screen_of(&s, false);
        ck_assert_msg(widest_line(text) <= 80, "%d columns:\n%s", widest_line(text), text);
        memory_free(text);
    }
}
END_TEST

static void strip(char *text) {
    char *out = text;
    for (const char *c = text; *c; c++) {
        if (*c != '\033') *out++ = *c;
        while (*c == '\033' && c[1]) {
            while (*++c != 'm') ck_assert(*c);
            break;
        }
    }
    *out = '\0';
}

START_TEST(colour_changes_nothing_else) {
    Sample s;
    sample_fill(&s);
    char *plain = screen_of(&s, false), *coloured = screen_of(&s, true);
    ck_assert(!strchr(plain, '\033'));
    ck_assert(strchr(coloured, '\033'));
    strip(coloured);
    ck_assert_str_eq(coloured, plain);
    memory_free(plain);
    memory_free(coloured);
}
END_TEST

START_TEST(text_without_memory_is_a_failure_and_no_crash) {
    Sample s;
    sample_fill(&s);
    for (uint64_t nth = 1; nth < 10; nth++) {
        Page page = {.colour = true};
        Failure failure = failure_of(&s.grade, &s.result, &s.results[0], "exercises");
        memory_fail_at(nth);
        for (int i = 0; i < 20; i++) screen_failure(&page, &failure);
        bool happened = page.failed;
        memory_fail_at(0);
        if (happened) ck_assert_int_eq(error_status(), STATUS_OUT_OF_MEMORY);
        error_clear();
        page_free(&page);
        if (!happened) return;
    }
    ck_abort_msg("a screen asks for memory more than ten times");
}
END_TEST

// ---- relations ---------------------------------------------------------------------------------
START_TEST(a_wrong_integer_is_related_to_the_right_one) {
    static const struct {
        int64_t expected, got;
        const char *text, *difference;
    } rows[] = {
        {524288, 33554432, "= expected * 64", "+6.3e+03 %"},
        {524288, 262144, "= expected / 2", "-50 %"},
        {5000000000, 705032704, "= the last 32 bits of expected", "-85.9 %"},
        {-5, 5, "= -expected", "+200 %"},
        {1000001, 1000011, "= expected + 10", "+0.001 %"},
        {1000001, 1000000, "= expected - 1", "-0.0001 %"},
        {524288, 587203, "", "+12 %"},
        {0, 12, "", "+12"},
        {7, 0, "", "-100 %"},
        {INT64_MAX, INT64_MIN, "", "-200 %"},
        {INT64_MIN, -1, "", "+100 %"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        Value expected = {.integer = rows[i].expected}, got = {.integer = rows[i].got};
        Relation relation = relation_of(VALUE_INTEGER, expected, got);
        ck_assert_str_eq(relation.text, rows[i].text);
        ck_assert_str_eq(relation.difference, rows[i].difference);
    }
}
END_TEST

START_TEST(a_wrong_real_is_related_to_the_right_one) {
    static const struct {
        double expected, got;
        const char *text, *difference;
    } rows[] = {
        {0.25, 250.0, "= expected * 1000", "+9.99e+04 %"},
        {250e6, 0.25, "= expected / 1000000000", "-100 %"},
        {3.0, 3.0 * 1048576.0, "= expected * 1048576", "+1.05e+08 %"},
        {5.0, 0.2, "= 1 / expected", "-96 %"},
        {0.3, -0.3, "= -expected", "-200 %"},
        {10.5, 11.76, "", "+12 %"},
        {0.0, 0.5, "", "+0.5"},
        {1.0, (double)NAN, "", "not a number"},
        {(double)NAN, 1.0, "", "not a number"},
        {1.0, (double)INFINITY, "", "+inf"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        Value expected = {.real = rows[i].expected}, got = {.real = rows[i].got};
        Relation relation = relation_of(VALUE_REAL, expected, got);
        ck_assert_str_eq(relation.text, rows[i].text);
        ck_assert_str_eq(relation.difference, rows[i].difference);
    }
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {a_failure_reads_as_the_page_for_students_says, 0},
        {the_function_that_failed_is_named, 0},
        {an_unknown_mistake_says_how_far_off_it_is, 0},
        {each_end_has_a_word_of_its_own, 0},
        {a_hidden_case_shows_its_kind_and_the_misconception_only, 0},
        {a_wrong_status_and_a_result_never_stored_are_said_in_words, 0},
        {what_a_compiler_says_is_cut_to_its_errors, 0},
        {no_line_is_wider_than_80_columns, 0},
        {colour_changes_nothing_else, 0},
        {text_without_memory_is_a_failure_and_no_crash, 0},
        {a_wrong_integer_is_related_to_the_right_one, 0},
        {a_wrong_real_is_related_to_the_right_one, 0},
        {NULL, 0},
    };
    return harness_main("screen", tests);
}
