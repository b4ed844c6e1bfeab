// test_exercises_count.c -- exercises 01 to 04: the reference solutions are right, skeletons are
// not, and every known mistake is recognised as itself. Student code runs in this process here;
// how it is contained, and what a grade is made of, are the grader's tests.
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exercises/course/ex01_count_parameters_formula.h"
#include "exercises/course/ex02_count_flops_formula.h"
#include "exercises/course/ex03_count_bytes_formula.h"
#include "exercises/grader/judge.h"
#include "exercises/grader/misconceptions.h"
#include "exercises/grader/worker.h"
#include "exercises/support/model_text.h"
#include "tests/expect.h"
#include "tests/mutants.h"

extern const Exercise exercise_01, exercise_02, exercise_03, exercise_04;
static const Exercise *const asked[] = {&exercise_01, &exercise_02, &exercise_03, &exercise_04};
enum { EXERCISES = sizeof(asked) / sizeof(asked[0]), SEEDS = 100, PATH = 200 };

// ---- a worker in this process -----------------------------------------------------------------
struct Answer {
    Reply heard;
    bool begun;
};
void answer_begin(Answer *answer) { answer->begun = true; }
void answer_status(Answer *answer, Status status) { answer->heard.status = status; }
static void hear(Answer *answer, Value value) {
    ck_assert_int_lt(answer->heard.n_values, CASE_MOST_VALUES);
    answer->heard.values[answer->heard.n_values++] = value;
}
void answer_integer(Answer *answer, int64_t value) { hear(answer, (Value){.integer = value}); }
void answer_real(Answer *answer, double value) { hear(answer, (Value){.real = value}); }

// A skeleton compiles without one, untouched.
#define STRICT "-Wall -Wextra -Wshadow -Wdouble-promotion -Wfloat-conversion -Werror"

typedef struct Submission {
    void *library;
    ExerciseCall *call;
} Submission;

// Compiles a student's file with the exercise's call file, and opens what comes out.
static Submission submit(const Exercise *exercise, const char *source, const char *warnings) {
    char library[PATH], command[4 * PATH], symbol[PATH];
    snprintf(library, sizeof(library), "/tmp/exercise_%s_%d.so", exercise->number, (int)getpid());
    snprintf(command, sizeof(command),
             "cc -std=c11 -D_GNU_SOURCE -I. -O1 %s -shared -fPIC -o %s %s "
             "exercises/course/ex%s_%s_call.c",
             warnings, library, source, exercise->number, exercise->name);
    ck_assert_msg(system(command) == 0, "%s", command);
    Submission submission = {.library = dlopen(library, RTLD_NOW | RTLD_LOCAL)};
    ck_assert_msg(submission.library != NULL, "%s", dlerror());
    unlink(library);
    snprintf(symbol, sizeof(symbol), "%s_call", exercise->name);
    void *address = dlsym(submission.library, symbol);
    memcpy(&submission.call, &address, sizeof(address)); // ISO C knows no such cast
    ck_assert(submission.call != NULL);
    return submission;
}

static void end(Submission submission) { dlclose(submission.library); }

static CaseRun run_made(const Exercise *exercise, const ExerciseCase *of, uint64_t seed, int i) {
    CaseRun run;
    DrawKey key = {.secret = "", .student = "", .seed = seed};
    Status status = exercise_run_make(exercise, of, key, i, NULL, &run);
    ck_assert_msg(status == STATUS_OK, "%s %s %d: %s", exercise->number, of->name, i,
                  error_message());
    return run;
}

static Reply answer_to(Submission submission, const CaseRun *run) {
    Answer answer = {.begun = false};
    Status status = submission.call(run->input, &answer);
    ck_assert_msg(status == STATUS_OK && answer.begun, "%s: %s", run->input, error_message());
    expect_no_error();
    return answer.heard;
}

// ---- right and not done -----------------------------------------------------------------------
static char *source_of(const Exercise *exercise, const char *folder, char path[PATH]) {
    snprintf(path, PATH, "exercises/%sex%s_%s.c", folder, exercise->number, exercise->name);
    return path;
}

START_TEST(solutions_are_right_on_100_seeds) {
    const Exercise *exercise = asked[_i];
    char path[PATH];
    Submission solution = submit(exercise, source_of(exercise, "solutions/", path), STRICT);
    for (int c = 0; c < exercise->n_cases; c++) {
        const ExerciseCase *of = &exercise->cases[c];
        for (uint64_t seed = 0; seed < SEEDS && !of->by_hand; seed++)
            for (int i = 0; i < of->runs; i++) {
                CaseRun run = run_made(exercise, of, seed, i);
                Reply answer = answer_to(solution, &run);
                Verdict fault = judge(&run, &answer);
                ck_assert_msg(fault.right && answer.n_values == run.n_values,
                              "%s, seed %d: %s: value %d", of->name, (int)seed, run.input,
                              fault.value);
            }
    }
    end(solution);
    ck_assert_int_eq(expect_live_bytes(), 0);
}
END_TEST

START_TEST(skeletons_match_no_case) {
    const Exercise *exercise = asked[_i];
    char path[PATH];
    Submission skeleton = submit(exercise, source_of(exercise, "", path), STRICT);
    for (int c = 0; c < exercise->n_cases; c++) {
        const ExerciseCase *of = &exercise->cases[c];
        for (int i = 0; i < of->runs && !of->by_hand; i++) {
            CaseRun run = run_made(exercise, of, 0, i);
            Reply answer = answer_to(skeleton, &run);
            ck_assert_int_eq(answer.status, STATUS_NOT_IMPLEMENTED);
            ck_assert(!judge(&run, &answer).right);
        }
    }
    end(skeleton);
}
END_TEST

// ---- mutants ----------------------------------------------------------------------------------
static char *mutants_path(const Exercise *exercise, char path[PATH]) {
    snprintf(path, PATH, "exercises/mutants/ex%s_%s.txt", exercise->number, exercise->name);
    return path;
}

// The first case that fails has to name the mistake, whatever the seed.
static void check_mutant(const Exercise *exercise, Submission mutant, const char *name,
                         uint64_t seed) {
    for (int c = 0; c < exercise->n_cases; c++) {
        const ExerciseCase *of = &exercise->cases[c];
        for (int i = 0; i < of->runs && !of->by_hand; i++) {
            CaseRun run = run_made(exercise, of, seed, i);
            Reply answer = answer_to(mutant, &run);
            Verdict fault = judge(&run, &answer);
            if (fault.right) continue;
            ck_assert_msg(fault.mistake && strcmp(fault.mistake, name) == 0,
                          "%s, seed %d, case %s, run %d (%s): value %d taken for %s", name,
                          (int)seed, of->name, i, run.input, fault.value,
                          fault.mistake ? fault.mistake : "no known mistake");
            return;
        }
    }
    ck_abort_msg("%s, seed %d: passes every case", name, (int)seed);
}

// Also before any test runs, so without assertions.
static int mutant_count(const Exercise *exercise) {
    char path[PATH], line[PATH];
    int count = 0;
    FILE *file = fopen(mutants_path(exercise, path), "r");
    while (file && fgets(line, sizeof(line), file)) count += strncmp(line, "== ", 3) == 0;
    if (file) fclose(file);
    return count;
}

START_TEST(each_mutant_gets_its_own_hint) {
    int e = 0, index = _i;
    for (; index >= mutant_count(asked[e]); e++) index -= mutant_count(asked[e]);
    char path[PATH], source[PATH];
    char *solution = mutants_read_file(source_of(asked[e], "solutions/", path));
    char *mutants = mutants_read_file(mutants_path(asked[e], path)), *at = mutants;
    Mutant mutant = {.source = NULL};
    for (int i = 0; i <= index; i++) {
        free(mutant.source);
        ck_assert(mutants_next(&at, solution, &mutant));
    }
    snprintf(source, sizeof(source), "/tmp/mutant_%d.c", (int)getpid());
    FILE *file = fopen(source, "w");
    fputs(mutant.source, file);
    fclose(file);
    Submission submission = submit(asked[e], source, "-w");
    unlink(source);
    for (uint64_t seed = 0; seed < 20; seed++)
        check_mutant(asked[e], submission, mutant.name, seed);
    end(submission);
    free(mutant.source);
    free(mutants);
    free(solution);
}
END_TEST

// ---- the cases --------------------------------------------------------------------------------
START_TEST(points_add_up_and_needed_cases_exist) {
    const Exercise *exercise = asked[_i];
    int points = 0;
    for (int c = 0; c < exercise->n_cases; c++) {
        const ExerciseCase *of = &exercise->cases[c];
        points += of->points;
        bool found = !of->needs;
        for (int i = 0; i < exercise->n_cases && !found; i++)
            found = strcmp(exercise->cases[i].name, of->needs) == 0;
        ck_assert_msg(found && of->runs >= 1, "%s", of->name);
    }
    ck_assert_int_eq(points, exercise->points);
}
END_TEST

// The library and the formula by hand are two derivations of one number.
START_TEST(formulas_agree_with_the_library) {
    const Exercise *exercise = asked[_i];
    context_set_device(device_meta());
    for (int c = 0; c < exercise->n_cases; c++) {
        const ExerciseCase *of = &exercise->cases[c];
        for (int i = 0; i < 20 * of->runs && !of->by_hand; i++) {
            CaseRun run = run_made(exercise, of, (uint64_t)(i / of->runs), i % of->runs);
            if (run.status) continue;
            Shape input;
            Layer *model = model_from_text(run.input, &input);
            layer_train(model, false);
            FormulaTraffic bytes = {0};
            int64_t count = 0;
            if (_i == 0) count = formula_parameters(model, PARAMETER_RIGHT, NULL);
            if (_i == 1) count = formula_flops(model, input, FLOP_RIGHT, NULL);
            if (_i == 2) bytes = formula_bytes(model, input, BYTE_RIGHT, NULL);
            if (_i < 2) ck_assert_int_eq(count, run.values[0].value.integer);
            if (_i == 2) ck_assert_int_eq(bytes.read, run.values[0].value.integer);
            if (_i == 2) ck_assert_int_eq(bytes.written, run.values[1].value.integer);
            layer_free(model);
        }
    }
}
END_TEST

static bool has_value(const Exercise *exercise, const char *name, int run_index, int value,
                      double wanted) {
    for (int c = 0; c < exercise->n_cases; c++) {
        if (strcmp(exercise->cases[c].name, name) != 0) continue;
        CaseRun run = run_made(exercise, &exercise->cases[c], 0, run_index);
        const ExpectedValue *expected = &run.values[value];
        double got =
            expected->kind == VALUE_REAL ? expected->value.real : (double)expected->value.integer;
        bool good = fabs(got - wanted) <= 1e-3 * fabs(wanted) * (expected->kind == VALUE_REAL);
        if (!good) fprintf(stderr, "%s %d: %.17g, not %.17g\n", name, run_index, got, wanted);
        return good;
    }
    return false;
}

// The numbers that the course's own pages print.
START_TEST(the_named_cases_have_the_numbers_of_the_course) {
    ck_assert(has_value(&exercise_01, "by_hand", 0, 0, 226676736));
    ck_assert(has_value(&exercise_01, "linear", 0, 0, 55));
    ck_assert(has_value(&exercise_01, "tree", 0, 0, 23));
    ck_assert(has_value(&exercise_01, "wide_64_bit", 0, 0, 2500050000));
    ck_assert(has_value(&exercise_02, "by_hand_flops", 0, 0, 33554432));
    ck_assert(has_value(&exercise_02, "by_hand_milliseconds", 0, 0, 0.671));
    ck_assert(has_value(&exercise_02, "linear", 0, 0, 16384));
    ck_assert(has_value(&exercise_02, "linear_512_b64", 0, 0, 524288));
    ck_assert(has_value(&exercise_02, "linear_512_b64", 1, 0, 16384));
    ck_assert(has_value(&exercise_02, "chain", 0, 0, 17664));
    ck_assert(has_value(&exercise_02, "chain", 1, 0, 39));
    ck_assert(has_value(&exercise_02, "rows", 0, 0, 120));
    ck_assert(has_value(&exercise_02, "wide_64_bit", 0, 0, 5e9));
    ck_assert(has_value(&exercise_02, "conv", 1, 0, 777600));
    ck_assert(has_value(&exercise_02, "conv", 2, 0, 223552896));
    ck_assert(has_value(&exercise_02, "conv", 3, 0, 552960));
    ck_assert(has_value(&exercise_02, "shapes", 0, 0, 3024));
    ck_assert(has_value(&exercise_04, "by_hand_ridge", 0, 0, 2.0));
    ck_assert(has_value(&exercise_04, "linear_4096", 0, 2, 0.337e-3));
    ck_assert(has_value(&exercise_04, "linear_4096", 0, 4, 1));
    ck_assert(has_value(&exercise_04, "linear_4096", 1, 2, 0.537e-3));
    ck_assert(has_value(&exercise_04, "linear_4096", 1, 4, 0));
    ck_assert(has_value(&exercise_04, "either_side", 0, 1, 9.5635));
    ck_assert(has_value(&exercise_04, "either_side", 0, 4, 1));
    ck_assert(has_value(&exercise_04, "either_side", 1, 4, 0));
    ck_assert(has_value(&exercise_04, "on_the_ridge", 0, 4, 0));
}
END_TEST

// ---- pages ------------------------------------------------------------------------------------
static bool has_line(const char *name) {
    static const char *const names[] = {
#define MISCONCEPTION_NAME(name, text) #name,
        MISCONCEPTION_LIST(MISCONCEPTION_NAME)
#undef MISCONCEPTION_NAME
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(names[i], name) == 0) return true;
    return false;
}

static void check_page(const char *name) {
    char path[PATH];
    snprintf(path, sizeof(path), "exercises/explain/%s.md", name);
    char *page = mutants_read_file(path), *line = page;
    ck_assert_msg(strlen(page) > 200, "%s", path);
    while (*line) {
        size_t length = strcspn(line, "\n");
        ck_assert_msg(length <= 80, "%s: longer than 80: %.*s", path, (int)length, line);
        line += length + (line[length] != '\0');
    }
    free(page);
}

START_TEST(every_mistake_has_a_line_and_a_page) {
    const Exercise *exercise = asked[_i];
    for (int c = 0; c < exercise->n_cases; c++) {
        for (int i = 0; i < exercise->cases[c].runs; i++) {
            CaseRun run = run_made(exercise, &exercise->cases[c], 0, i);
            ck_assert_msg(run.n_mistakes > 0 || exercise->cases[c].needs, "%s",
                          exercise->cases[c].name);
            for (int m = 0; m < run.n_mistakes; m++) {
                ck_assert_msg(has_line(run.mistakes[m].name), "%s", run.mistakes[m].name);
                check_page(run.mistakes[m].name);
            }
        }
    }
}
END_TEST

int main(void) {
    int mutants = 0;
    for (int i = 0; i < EXERCISES; i++) mutants += mutant_count(asked[i]);
    const HarnessTest tests[] = {
        {solutions_are_right_on_100_seeds, EXERCISES},
        {skeletons_match_no_case, EXERCISES},
        {each_mutant_gets_its_own_hint, mutants},
        {points_add_up_and_needed_cases_exist, EXERCISES},
        {formulas_agree_with_the_library, 3},
        {the_named_cases_have_the_numbers_of_the_course, 0},
        {every_mistake_has_a_line_and_a_page, EXERCISES},
        {NULL, 0},
    };
    return harness_main("exercises_count", tests);
}
