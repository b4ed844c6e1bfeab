// test_exercise.c -- exercises without student code: SHA-256 against published vectors, draws,
// sound and unsound runs, judging, answers by hand, finding an exercise by typed names.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exercises/course/answers.h"
#include "exercises/course/exercise.h"
#include "exercises/course/sha256.h"
#include "exercises/course/text_file.h"
#include "exercises/grader/judge.h"
#include "exercises/support/worker.h"
#include "tensor/memory.h"
#include "tests/helpers/harness.h"

// ---- SHA-256 -----------------------------------------------------------------------------------
static void assert_digest(const uint8_t digest[SHA256_BYTES], const char *wanted) {
    char text[2 * SHA256_BYTES + 1];
    for (int i = 0; i < SHA256_BYTES; i++) snprintf(text + 2 * i, 3, "%02x", digest[i]);
    ck_assert_str_eq(text, wanted);
}

// FIPS 180-4's examples, and lengths around the end of a block (by sha256sum).
START_TEST(sha256_gives_the_published_digests) {
    static const struct {
        const char *text;
        int times;
        const char *digest;
    } vectors[] = {
        {"", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
        {"a", 1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
        {"a", 55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"},
        {"a", 63, "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34"},
        {"a", 64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"},
    };
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        Sha256 hash;
        uint8_t digest[SHA256_BYTES];
        sha256_begin(&hash);
        for (int k = 0; k < vectors[i].times; k++)
            sha256_add(&hash, vectors[i].text, strlen(vectors[i].text));
        sha256_end(&hash, digest);
        assert_digest(digest, vectors[i].digest);
    }
}
END_TEST

// RFC 4231, cases 1, 2, 3 and 6 (a key longer than a block).
START_TEST(hmac_gives_the_published_digests) {
    uint8_t key[131], data[50], digest[SHA256_BYTES];
    memset(key, 0x0b, 20);
    hmac_sha256(key, 20, "Hi There", 8, digest);
    assert_digest(digest, "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    hmac_sha256("Jefe", 4, "what do ya want for nothing?", 28, digest);
    assert_digest(digest, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    memset(key, 0xaa, sizeof key);
    memset(data, 0xdd, sizeof data);
    hmac_sha256(key, 20, data, sizeof data, digest);
    assert_digest(digest, "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
    const char *text = "Test Using Larger Than Block-Size Key - Hash Key First";
    hmac_sha256(key, sizeof key, text, strlen(text), digest);
    assert_digest(digest, "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}
END_TEST

// ---- draws -------------------------------------------------------------------------------------
static int64_t first_of(DrawKey key, const char *exercise, const char *name, int run) {
    Draw draw = draw_begin(key, exercise, name, run);
    return draw_between(&draw, INT64_MIN, INT64_MAX);
}

START_TEST(a_draw_depends_on_each_part_of_its_key_and_on_nothing_else) {
    const DrawKey key = {"secret", "ada", 0, NULL};
    const int64_t own = first_of(key, "02", "linear", 0);
    ck_assert_int_eq(first_of(key, "02", "linear", 0), own);
    const int64_t others[] = {
        first_of((DrawKey){"Secret", "ada", 0, NULL}, "02", "linear", 0),
        first_of((DrawKey){"secret", "bob", 0, NULL}, "02", "linear", 0),
        first_of((DrawKey){"secret", "ada", 1, NULL}, "02", "linear", 0),
        first_of((DrawKey){"secret", "ada 02", 0, NULL}, "linear", "0", 0),
        first_of(key, "03", "linear", 0),
        first_of(key, "02", "conv", 0),
        first_of(key, "02", "linear", 1),
    };
    for (int i = 0; i < 7; i++)
        for (int k = 0; k < i; k++) ck_assert_int_ne(others[i], others[k]);
    for (int i = 0; i < 7; i++) ck_assert_int_ne(others[i], own);
}
END_TEST

// A grade may be recomputed years later, so these numbers must not change.
START_TEST(draws_stay_what_they_are) {
    Draw draw = draw_begin((DrawKey){"secret", "ada", 7, NULL}, "02", "linear", 3);
    ck_assert_int_eq(draw.run, 3);
    ck_assert(!draw.practice);
    ck_assert_int_eq(draw_between(&draw, 1, 1000), 49);
    ck_assert_int_eq(draw_between(&draw, -5, 5), 3);
    ck_assert_double_eq(draw_real(&draw, 0.0, 1.0), 0.07545700997661753);
    ck_assert(draw_begin((DrawKey){"", "", 0, NULL}, "02", "linear", 0).practice);
    ck_assert(!draw_begin((DrawKey){"", "", 1, NULL}, "02", "linear", 0).practice);
}
END_TEST

START_TEST(draws_reach_both_ends_and_all_between) {
    Draw draw = draw_begin((DrawKey){"", "", 0, NULL}, "01", "x", 0);
    int seen[7] = {0};
    for (int i = 0; i < 7000; i++) {
        int64_t number = draw_between(&draw, -3, 3);
        ck_assert(number >= -3 && number <= 3);
        seen[number + 3]++;
    }
    for (int i = 0; i < 7; i++) ck_assert_int_gt(seen[i], 800);
    for (int i = 0; i < 1000; i++) {
        double real = draw_real(&draw, 2.0, 3.0);
        ck_assert(real >= 2.0 && real < 3.0);
    }
    ck_assert_int_eq(draw_between(&draw, 5, 5), 5);
}
END_TEST

// ---- runs --------------------------------------------------------------------------------------
START_TEST(mistakes_that_cannot_be_told_apart_are_left_out) {
    CaseRun run = {.n_values = 0};
    run_expect_integer(&run, "", 10);
    run_mistake_integer(&run, "right", 10);
    run_mistake_integer(&run, "first", 20);
    run_mistake_integer(&run, "second", 20);
    ck_assert_int_eq(run.n_mistakes, 1);
    run_expect_real(&run, "seconds", 1.0, 0.01);
    run_mistake_real(&run, "near", 1.005);
    run_mistake_real(&run, "far", 2.0);
    run_mistake_real(&run, "near_far", 2.001);
    run_mistake_real(&run, "nan", (double)NAN);
    ck_assert_int_eq(run.n_mistakes, 3);
    run_mistake_status(&run, "same", STATUS_OK);
    run_mistake_status(&run, "other", STATUS_SHAPE);
    ck_assert_int_eq(run.n_mistakes, 4);
    ck_assert_ptr_null(run_check(&run));
}
END_TEST

START_TEST(run_check_finds_what_is_wrong_with_a_run) {
    static const char *const words[] = {"A", "B", NULL};
    CaseRun run = {.n_values = 0};
    ck_assert_ptr_nonnull(run_check(&run)); // expects nothing
    run.status = STATUS_SHAPE;
    ck_assert_ptr_null(run_check(&run));
    run_expect_integer(&run, "", 1);
    ck_assert_ptr_nonnull(run_check(&run)); // a failure with values
    run.status = STATUS_OK;
    ck_assert_ptr_null(run_check(&run));
    snprintf(run.input, sizeof run.input, "two\nlines");
    ck_assert_ptr_nonnull(run_check(&run));
    run.input[3] = ' ';
    run.mistakes[run.n_mistakes++] = (Mistake){"own", 0, {.integer = 1}};
    ck_assert_ptr_nonnull(run_check(&run)); // the mistake is the right value
    run.mistakes[0].wrong.integer = 2;
    ck_assert_ptr_null(run_check(&run));
    run_expect_word(&run, "bound", 2, words);
    ck_assert_ptr_nonnull(run_check(&run));
    run.values[1].value.integer = 1;
    ck_assert_ptr_null(run_check(&run));
    run_expect_integer(&run, "poison", POISON_INTEGER);
    ck_assert_ptr_nonnull(run_check(&run));
    run.n_values--;
    for (int i = 0; i <= CASE_MOST_VALUES; i++) run_expect_integer(&run, "", i);
    ck_assert_ptr_nonnull(run_check(&run)); // too many values
}
END_TEST

// ---- judging -----------------------------------------------------------------------------------
START_TEST(the_first_wrong_value_that_is_known_decides) {
    CaseRun run = {.n_values = 0};
    Reply reply = {.n_values = 3};
    for (int i = 0; i < 3; i++) {
        run_expect_integer(&run, "", i);
        reply.values[i].integer = i;
    }
    run_mistake_integer(&run, "known", 7); // for the last value
    ck_assert(judge(&run, &reply).right);
    reply.values[0].integer = 9;
    ck_assert_int_eq(judge(&run, &reply).value, 0);
    ck_assert_ptr_null(judge(&run, &reply).mistake);
    reply.values[2].integer = 7;
    ck_assert_int_eq(judge(&run, &reply).value, 2);
    ck_assert_str_eq(judge(&run, &reply).mistake, "known");
    reply.status = STATUS_SHAPE;
    run_mistake_status(&run, "shape", STATUS_SHAPE);
    ck_assert_int_eq(judge(&run, &reply).value, -1);
    ck_assert_str_eq(judge(&run, &reply).mistake, "shape");
}
END_TEST

START_TEST(reals_are_compared_within_their_tolerance) {
    ExpectedValue near = {.kind = VALUE_REAL, .value.real = -2.0, .tolerance = 0.01};
    ExpectedValue exact = {.kind = VALUE_REAL, .value.real = 0.0};
    const double infinity = (double)INFINITY, nan = (double)NAN;
    ck_assert(value_same(&near, (Value){.real = -2.019}, near.value));
    ck_assert(!value_same(&near, (Value){.real = -2.03}, near.value));
    ck_assert(!value_same(&near, (Value){.real = nan}, near.value));
    ck_assert(value_same(&near, (Value){.real = nan}, (Value){.real = nan}));
    ck_assert(!value_same(&near, (Value){.real = 1e300}, (Value){.real = infinity}));
    ck_assert(!value_same(&near, (Value){.real = infinity}, near.value));
    ck_assert(value_same(&near, (Value){.real = infinity}, (Value){.real = infinity}));
    ck_assert(!value_same(&exact, (Value){.real = 1e-300}, exact.value));
}
END_TEST

START_TEST(values_are_shown_in_full) {
    static const char *const words[] = {"COMPUTE", "MEMORY", NULL};
    char text[VALUE_TEXT];
    ExpectedValue integer = {.kind = VALUE_INTEGER}, real = {.kind = VALUE_REAL};
    ExpectedValue word = {.kind = VALUE_WORD, .words = words};
    ck_assert_str_eq(value_text(&integer, (Value){.integer = INT64_MIN}, text),
                     "-9223372036854775808");
    ck_assert_str_eq(value_text(&real, (Value){.real = 0.1}, text), "0.1");
    ck_assert_str_eq(value_text(&real, (Value){.real = 1.0 / 3.0}, text), "0.3333333333333333");
    ck_assert_str_eq(value_text(&real, (Value){.real = (double)NAN}, text), "nan");
    ck_assert_str_eq(value_text(&word, (Value){.integer = 1}, text), "MEMORY");
    ck_assert_str_eq(value_text(&word, (Value){.integer = 5}, text), "5");
}
END_TEST

// ---- answers by hand ---------------------------------------------------------------------------
static const char answers_file[] = "# by hand\n"
                                   "plain = 226676736   # bytes\n"
                                   "unit=226 MB\n"
                                   "\tcommas =\t226,676,736\r\n"
                                   "percent = 50%\n"
                                   "real = 0.671\n"
                                   "exponent = 6.71e-1\n"
                                   "hex = 0x10\n"
                                   "huge = 99999999999999999999\n"
                                   "nothing =\n"
                                   "twice = 1\n"
                                   "twice = 2\n"
                                   "word = memory\n"
                                   "nan = nan";

typedef struct AnswerRow {
    const char *key;
    ValueKind kind;
    AnswerEnd end;
    double value;        // the number, if one was given
    const char *problem; // part of its text
} AnswerRow;

START_TEST(answers_are_read_to_the_letter) {
    static const char *const words[] = {"COMPUTE", "MEMORY", NULL};
    static const AnswerRow rows[] = {
        {"plain", VALUE_INTEGER, ANSWER_GIVEN, 226676736.0, ""},
        {"unit", VALUE_INTEGER, ANSWER_UNREADABLE, 0.0, "leave out the unit"},
        {"unit", VALUE_REAL, ANSWER_UNREADABLE, 0.0, "leave out the unit"},
        {"commas", VALUE_INTEGER, ANSWER_UNREADABLE, 0.0, "write the digits alone"},
        {"percent", VALUE_REAL, ANSWER_UNREADABLE, 0.0, "without the %"},
        {"real", VALUE_REAL, ANSWER_GIVEN, 0.671, ""},
        {"exponent", VALUE_REAL, ANSWER_GIVEN, 0.671, ""},
        {"real", VALUE_INTEGER, ANSWER_UNREADABLE, 0.0, "whole number"},
        {"hex", VALUE_REAL, ANSWER_UNREADABLE, 0.0, "decimal"},
        {"huge", VALUE_INTEGER, ANSWER_UNREADABLE, 0.0, "too large"},
        {"nothing", VALUE_INTEGER, ANSWER_MISSING, 0.0, "no answer"},
        {"absent", VALUE_INTEGER, ANSWER_MISSING, 0.0, "no answer"},
        {"pla", VALUE_INTEGER, ANSWER_MISSING, 0.0, "no answer"},
        {"twice", VALUE_INTEGER, ANSWER_UNREADABLE, 0.0, "second line"},
        {"word", VALUE_WORD, ANSWER_GIVEN, 1.0, ""},
        {"plain", VALUE_WORD, ANSWER_UNREADABLE, 0.0, "COMPUTE MEMORY"},
        {"nan", VALUE_REAL, ANSWER_UNREADABLE, 0.0, "plain number"},
    };
    char folder[] = "/tmp/ridgepoint-answers-XXXXXX", problem[CASE_LINE], path[64];
    Answers answers;
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(file_write(folder, "by_hand.txt", answers_file, strlen(answers_file)), 0);
    ck_assert_int_eq(answers_read(folder, "by_hand.txt", &answers), STATUS_OK);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ExpectedValue expected = {.kind = rows[i].kind, .words = words};
        Value value;
        AnswerEnd end = answers_value(&answers, rows[i].key, &expected, &value, problem);
        ck_assert_msg(end == rows[i].end && strstr(problem, rows[i].problem), "%s: %d, %s",
                      rows[i].key, (int)end, problem);
        double got = rows[i].kind == VALUE_REAL ? value.real : (double)value.integer;
        if (end == ANSWER_GIVEN) ck_assert_double_eq(got, rows[i].value);
    }
    answers_free(&answers);
    snprintf(path, sizeof path, "%s/by_hand.txt", folder);
    unlink(path);
    ck_assert_int_eq(symlink("/etc/hostname", path), 0); // links do not count as files
    ck_assert_int_eq(answers_read(folder, "by_hand.txt", &answers), STATUS_OK);
    ck_assert_ptr_null(answers.text);
    ck_assert_str_eq(answers.problem, "by_hand.txt");
    unlink(path);
    rmdir(folder);
}
END_TEST

// ---- files, lists ------------------------------------------------------------------------------
START_TEST(a_file_is_read_whole_or_refused) {
    char folder[] = "/tmp/ridgepoint-files-XXXXXX", path[64];
    size_t count = 0;
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(file_write(folder, "text", "12345", 5), STATUS_OK);
    char *text = file_read(folder, "text", 5, &count);
    ck_assert_str_eq(text, "12345");
    ck_assert_uint_eq(count, 5);
    memory_free(text);
    ck_assert_ptr_null(file_read(folder, "text", 4, NULL));
    ck_assert_int_eq(error_status(), STATUS_FORMAT);
    error_clear();
    const char *const refused[] = {"absent", "../text", ".", "fifo"};
    snprintf(path, sizeof path, "%s/fifo", folder);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    for (int i = 0; i < 4; i++) {
        ck_assert_ptr_null(file_read(folder, refused[i], 100, NULL));
        ck_assert_int_eq(error_status(), STATUS_IO);
        error_clear();
    }
    unlink(path);
    snprintf(path, sizeof path, "%s/text", folder);
    unlink(path);
    rmdir(folder);
}
END_TEST

START_TEST(an_exercise_is_found_by_what_people_type) {
    static const char *const names[] = {"2", "02", "ex02", "count_flops", "ex02_count_flops"};
    static const char *const wrong[] = {"", "0x2", "2x", "99", "-2", "ex", "ex01_count_flops"};
    for (int i = 0; i < 5; i++) {
        const Exercise *exercise = exercise_by_number(names[i]);
        ck_assert_ptr_nonnull(exercise);
        ck_assert_str_eq(exercise->number, "02");
    }
    for (int i = 0; i < 7; i++) ck_assert_ptr_null(exercise_by_number(wrong[i]));
}
END_TEST

START_TEST(points_of_cases_add_up_and_siblings_are_there) {
    for (int i = 0; i < exercise_count; i++) {
        int sum = 0;
        for (int k = 0; k < exercises[i]->n_cases; k++) {
            const ExerciseCase *one = &exercises[i]->cases[k];
            bool found = one->needs == NULL;
            for (int m = 0; m < exercises[i]->n_cases && !found; m++)
                found = strcmp(exercises[i]->cases[m].name, one->needs) == 0 && m != k;
            ck_assert_msg(found, "%s needs %s", one->name, one->needs);
            ck_assert_int_ge(one->runs, 1);
            sum += one->points;
        }
        ck_assert_msg(sum == exercises[i]->points, "exercise %s: %d", exercises[i]->number, sum);
    }
}
END_TEST

START_TEST(every_run_of_every_case_is_sound) {
    CaseRun *run = memory_new(sizeof *run);
    for (int i = 0; i < exercise_count; i++)
        for (int k = 0; k < exercises[i]->n_cases; k++)
            for (int m = 0; m < 10 * exercises[i]->cases[k].runs; m++) {
                const ExerciseCase *one = &exercises[i]->cases[k];
                DrawKey key = {"", "", (uint64_t)(m / one->runs), NULL};
                if (one->beside) continue;
                Status status = exercise_run_make(exercises[i], one, key, m % one->runs, NULL, run);
                ck_assert_msg(status == STATUS_OK, "%s", error_message());
            }
    memory_free(run);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {sha256_gives_the_published_digests, 0},
        {hmac_gives_the_published_digests, 0},
        {a_draw_depends_on_each_part_of_its_key_and_on_nothing_else, 0},
        {draws_stay_what_they_are, 0},
        {draws_reach_both_ends_and_all_between, 0},
        {mistakes_that_cannot_be_told_apart_are_left_out, 0},
        {run_check_finds_what_is_wrong_with_a_run, 0},
        {the_first_wrong_value_that_is_known_decides, 0},
        {reals_are_compared_within_their_tolerance, 0},
        {values_are_shown_in_full, 0},
        {answers_are_read_to_the_letter, 0},
        {a_file_is_read_whole_or_refused, 0},
        {an_exercise_is_found_by_what_people_type, 0},
        {points_of_cases_add_up_and_siblings_are_there, 0},
        {every_run_of_every_case_is_sound, 0},
        {NULL, 0},
    };
    return harness_main("exercise", tests);
}
