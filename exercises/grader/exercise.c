// exercise.c -- fills in and checks the runs of a case. What the cases are is in course/.
#include "exercises/grader/exercise.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "exercises/grader/draw.h"
#include "exercises/grader/judge.h"
#include "exercises/grader/worker.h"

// ---- filling in --------------------------------------------------------------------------------
// One beyond the last entry says that there was no room; run_check sees it.
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

// Whether two wrong values would look the same.
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
    if (run->status != STATUS_OK && run->n_values > 0) return "values are expected of a failure";
    if (run->status == STATUS_NOT_IMPLEMENTED) return "what the skeleton returns is expected";
    if (strpbrk(run->input, "\r\n")) return "the input is more than a line";
    for (int i = 0; i < run->n_values && !problem; i++) problem = check_value(&run->values[i]);
    for (int i = 0; i < run->n_mistakes && !problem; i++) problem = check_mistake(run, i);
    return problem;
}

Status exercise_run_make(const Exercise *exercise, const ExerciseCase *definition, DrawKey key,
                         int index, const char *beside, CaseRun *run) {
    memset(run, 0, sizeof *run);
    Draw draw = draw_begin(key, exercise->number, definition->name, index);
    draw.beside = beside;
    Status status = definition->make(&draw, run);
    if (status) return status;
    const char *problem = run_check(run);
    if (!problem) return STATUS_OK;
    return error_set(STATUS_STATE,
                     "exercise %s, case %s, run %d: %s. HINT: its cases file is at fault",
                     exercise->number, definition->name, index, problem);
}
