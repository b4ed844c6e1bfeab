// exercise.c -- the table of exercises, finding an exercise, and the runs of its cases: their
// random numbers, their expectations, and checks of these.
#include "exercises/course/exercise.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exercises/course/key.h"
#include "exercises/course/sha256.h"
#include "exercises/support/worker.h"

// ---- the table ----------------------------------------------------------------------------------
#define EXERCISE_DECLARE(number, name) extern const Exercise exercise_##number;
EXERCISE_LIST(EXERCISE_DECLARE)
#undef EXERCISE_DECLARE

const Exercise *const exercises[] = {
#define EXERCISE_ENTRY(number, name) &exercise_##number,
    EXERCISE_LIST(EXERCISE_ENTRY)
#undef EXERCISE_ENTRY
};
const int exercise_count = (int)(sizeof exercises / sizeof exercises[0]);

// True for the number alone, such as "2" or "02".
static bool is_number(const char *text, const char *number) {
    if (!isdigit((unsigned char)text[0])) return false;
    char *end;
    long wanted = strtol(text, &end, 10);
    return *end == '\0' && wanted == strtol(number, NULL, 10);
}

// "ex02_count_flops"
static bool is_file(const char *text, const Exercise *exercise) {
    size_t length = strlen(exercise->number);
    return strncmp(text, "ex", 2) == 0 && strncmp(text + 2, exercise->number, length) == 0 &&
           text[2 + length] == '_' && strcmp(text + 3 + length, exercise->name) == 0;
}

const Exercise *exercise_find(const Exercise *const list[], int count, const char *number) {
    const char *digits = strncmp(number, "ex", 2) == 0 ? number + 2 : number;
    for (int i = 0; i < count; i++)
        if (is_number(digits, list[i]->number) || strcmp(number, list[i]->name) == 0 ||
            is_file(number, list[i]))
            return list[i];
    return NULL;
}

bool exercise_function(const Exercise *exercise, int index, char name[FUNCTION_NAME]) {
    const char *words = exercise->function;
    for (; index > 0; index--) {
        words += strcspn(words, " ");
        words += strspn(words, " ");
    }
    snprintf(name, FUNCTION_NAME, "%.*s", (int)strcspn(words, " "), words);
    return name[0] != '\0';
}

const Exercise *exercise_by_number(const char *number) {
    return exercise_find(exercises, exercise_count, number);
}

// ---- filling in --------------------------------------------------------------------------------
// A count one above the limit means that there was no room; run_check reports it.
static ExpectedValue *next_value(CaseRun *run) {
    if (run->n_values >= CASE_MOST_VALUES) {
        run->n_values = CASE_MOST_VALUES + 1;
        return NULL;
    }
    return &run->values[run->n_values++];
}

static void expect(CaseRun *run, const char *name, ExpectedValue value) {
    ExpectedValue *next = next_value(run);
    if (!next) return;
    *next = value;
    snprintf(next->name, sizeof next->name, "%s", name);
}

void run_expect_integer(CaseRun *run, const char *name, int64_t value) {
    expect(run, name, (ExpectedValue){.kind = VALUE_INTEGER, .value.integer = value});
}

void run_expect_real(CaseRun *run, const char *name, double value, double tolerance) {
    expect(run, name,
           (ExpectedValue){.kind = VALUE_REAL, .value.real = value, .tolerance = tolerance});
}

void run_expect_word(CaseRun *run, const char *name, int value, const char *const *words) {
    expect(run, name, (ExpectedValue){.kind = VALUE_WORD, .value.integer = value, .words = words});
}

void run_expect_recorded(CaseRun *run, const char *name, Recorded what, int64_t value) {
    expect(run, name,
           (ExpectedValue){.kind = VALUE_INTEGER, .value.integer = value, .recorded = what});
}

void run_recorded_words(CaseRun *run, const char *const *words) {
    run->values[run->n_values - 1].kind = VALUE_WORD;
    run->values[run->n_values - 1].words = words;
}

bool value_same(const ExpectedValue *expected, Value got, Value wanted) {
    if (expected->kind != VALUE_REAL) return got.integer == wanted.integer;
    if (isnan(wanted.real)) return isnan(got.real);
    if (expected->tolerance == 0.0) return got.integer == wanted.integer; // compares bits
    if (isinf(wanted.real)) return got.real == wanted.real;
    return fabs(got.real - wanted.real) <= expected->tolerance * fabs(wanted.real);
}

// True if two wrong values would look the same.
static bool same_wrong(const CaseRun *run, int value, Value left, Value right) {
    if (value < 0) return left.integer == right.integer;
    return value_same(&run->values[value], left, right);
}

static Value truth_of(const CaseRun *run, int value) {
    return value < 0 ? (Value){.integer = run->status} : run->values[value].value;
}

static void mistake(CaseRun *run, const char *name, int value, Value wrong) {
    if (value >= CASE_MOST_VALUES || same_wrong(run, value, wrong, truth_of(run, value))) return;
    for (int i = 0; i < run->n_mistakes && i < CASE_MOST_MISTAKES; i++)
        if (run->mistakes[i].value == value &&
            same_wrong(run, value, wrong, run->mistakes[i].wrong))
            return;
    if (run->n_mistakes < CASE_MOST_MISTAKES)
        run->mistakes[run->n_mistakes++] = (Mistake){name, value, wrong};
    else
        run->n_mistakes = CASE_MOST_MISTAKES + 1;
}

void run_mistake_integer(CaseRun *run, const char *name, int64_t wrong) {
    mistake(run, name, run->n_values - 1, (Value){.integer = wrong});
}

void run_mistake_real(CaseRun *run, const char *name, double wrong) {
    mistake(run, name, run->n_values - 1, (Value){.real = wrong});
}

void run_mistake_status(CaseRun *run, const char *name, Status wrong) {
    mistake(run, name, -1, (Value){.integer = wrong});
}

// ---- checking ----------------------------------------------------------------------------------
static const char *check_value(const ExpectedValue *expected) {
    Value poison = {.integer = POISON_INTEGER};
    if (expected->kind == VALUE_REAL) poison.real = POISON_REAL;
    if (!(expected->tolerance >= 0.0 && expected->tolerance < 1.0))
        return "a tolerance is not between 0 and 1";
    if (value_same(expected, poison, expected->value)) return "the right value is the poison";
    if (expected->kind != VALUE_WORD) return NULL;
    if (!expected->words) return "a word has no list of words";
    for (int64_t i = 0; i <= expected->value.integer; i++)
        if (!expected->words[i]) return "a word is not in its list";
    return expected->value.integer < 0 ? "a word is not in its list" : NULL;
}

static const char *check_mistake(const CaseRun *run, int index) {
    const Mistake *one = &run->mistakes[index];
    if (!one->name || !one->name[0]) return "a mistake has no name";
    if (one->value < -1 || one->value >= run->n_values) return "a mistake is of no value";
    if (same_wrong(run, one->value, one->wrong, truth_of(run, one->value)))
        return "a mistake's wrong value is the right one";
    for (int i = 0; i < index; i++)
        if (run->mistakes[i].value == one->value &&
            same_wrong(run, one->value, one->wrong, run->mistakes[i].wrong))
            return "two mistakes have the same wrong value";
    return NULL;
}

const char *run_check(const CaseRun *run) {
    const char *problem = NULL;
    if (run->n_values > CASE_MOST_VALUES) return "more values than CASE_MOST_VALUES";
    if (run->n_mistakes > CASE_MOST_MISTAKES) return "more mistakes than CASE_MOST_MISTAKES";
    if (run->status == STATUS_OK && run->n_values == 0) return "nothing is expected";
    for (int i = 0; i < run->n_values; i++)
        if (run->status != STATUS_OK && !run->values[i].recorded)
            return "values are expected of a failure";
    if (run->status == STATUS_NOT_IMPLEMENTED) return "what the skeleton returns is expected";
    if (strpbrk(run->input, "\r\n")) return "the input is more than a line";
    if (strlen(run->input) + 1 == sizeof run->input || strlen(run->scene) + 1 == sizeof run->scene)
        return "the input or the scene is cut off";
    for (int i = 0; i < run->n_values && !problem; i++) problem = check_value(&run->values[i]);
    for (int i = 0; i < run->n_mistakes && !problem; i++) problem = check_mistake(run, i);
    return problem;
}

bool case_is_text(const Exercise *exercise, const ExerciseCase *definition) {
    return exercise->answers || definition->by_hand;
}

bool case_is_sealed(const Exercise *exercise, const ExerciseCase *definition, const char *student) {
    if (definition->points == 0) return false;
    return exercise->answers || (definition->by_hand && student[0]);
}

Status exercise_run_make(const Exercise *exercise, const ExerciseCase *definition, DrawKey key,
                         int index, const char *beside, CaseRun *run) {
    char token[KEY_TOKEN] = "";
    memset(run, 0, sizeof *run);
    if (key.student[0] && key.token)
        snprintf(token, sizeof token, "%s", key.token);
    else if (key.student[0])
        key_token(key.secret, key.student, token);
    if (case_is_text(exercise, definition)) key.secret = token;
    Draw draw = draw_begin(key, exercise->number, definition->name, index);
    draw.beside = beside;
    draw.token = token;
    Status status = definition->make(&draw, run);
    if (status && error_pending()) return status;
    const char *problem = status ? status_name(status) : run_check(run);
    if (!problem) return STATUS_OK;
    return error_set(status ? status : STATUS_STATE,
                     "exercise %s, case %s, run %d: %s. HINT: its cases file is at fault",
                     exercise->number, definition->name, index, problem);
}

// ---- numbers -----------------------------------------------------------------------------------
enum { MOST_STUDENT = 128, MOST_MESSAGE = 512 };

static uint64_t read_word(const uint8_t bytes[8]) {
    uint64_t word = 0;
    for (int i = 0; i < 8; i++) word = word << 8 | bytes[i];
    return word;
}

Draw draw_begin(DrawKey key, const char *exercise, const char *case_name, int run) {
    char message[MOST_MESSAGE];
    uint8_t digest[SHA256_BYTES];
    // The length keeps fields apart: no name can read as the end of one and the start of another.
    int length =
        snprintf(message, sizeof message, "%zu:%.*s %.16s %.64s %d %llu", strlen(key.student),
                 MOST_STUDENT, key.student, exercise, case_name, run, (unsigned long long)key.seed);
    hmac_sha256(key.secret, strlen(key.secret), message, (size_t)length, digest);
    Draw draw = {.state = {read_word(digest), read_word(digest + 8)},
                 .run = run,
                 .practice = key.student[0] == '\0' && key.seed == 0};
    if ((draw.state[0] | draw.state[1]) == 0) draw.state[0] = 1; // the generator would stay at 0
    return draw;
}

static uint64_t rotate(uint64_t word, int by) { return word << by | word >> (64 - by); }

static uint64_t next(Draw *draw) {
    uint64_t a = draw->state[0], b = draw->state[1], result = rotate(a + b, 17) + a;
    b ^= a;
    draw->state[0] = rotate(a, 49) ^ b ^ b << 21;
    draw->state[1] = rotate(b, 28);
    return result;
}

int64_t draw_between(Draw *draw, int64_t least, int64_t most) {
    if (most <= least) return least;
    uint64_t span = (uint64_t)most - (uint64_t)least + 1; // 0 stands for 2^64
    if (span == 0) return (int64_t)next(draw);
    uint64_t word, uneven = (0 - span) % span; // words below `uneven` would favour small numbers
    do word = next(draw);
    while (word < uneven);
    return (int64_t)((uint64_t)least + word % span);
}

double draw_real(Draw *draw, double least, double most) {
    double part = (double)(next(draw) >> 11) * 0x1p-53; // in [0, 1)
    return least + part * (most - least);
}
