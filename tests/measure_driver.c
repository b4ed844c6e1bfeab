// measure_driver.c -- a grader without walls: no containment, no allow-list, no points but all or
// none. The functions of exercise.h are weak: the grader's own are used where they are linked.
#include "tests/measure_driver.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness.h"

#define STAND_IN __attribute__((weak))

// ---- numbers -----------------------------------------------------------------------------------
static uint64_t next_bits(Draw *draw) {
    uint64_t z = draw->state[0] += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

STAND_IN int64_t draw_between(Draw *draw, int64_t least, int64_t most) {
    return least + (int64_t)(next_bits(draw) % (uint64_t)(most - least + 1));
}
STAND_IN double draw_real(Draw *draw, double least, double most) {
    return least + (most - least) * ((double)(next_bits(draw) >> 11) * 0x1p-53);
}

// ---- what a run expects ------------------------------------------------------------------------
static bool near(const ExpectedValue *expected, double got, double want) {
    if (isnan(want) || isnan(got)) return isnan(want) && isnan(got);
    return fabs(got - want) <= expected->tolerance * fabs(want);
}

static bool same(const ExpectedValue *expected, Value got, Value want) {
    if (expected->kind != VALUE_REAL) return got.integer == want.integer;
    return near(expected, got.real, want.real);
}

static void expect(CaseRun *run, const char *name, ExpectedValue value) {
    ck_assert_int_lt(run->n_values, CASE_MOST_VALUES);
    snprintf(value.name, sizeof value.name, "%s", name);
    run->values[run->n_values++] = value;
}

STAND_IN void run_expect_integer(CaseRun *run, const char *name, int64_t value) {
    expect(run, name, (ExpectedValue){.kind = VALUE_INTEGER, .value.integer = value});
}
STAND_IN void run_expect_real(CaseRun *run, const char *name, double value, double tolerance) {
    expect(run, name,
           (ExpectedValue){.kind = VALUE_REAL, .value.real = value, .tolerance = tolerance});
}
STAND_IN void run_expect_word(CaseRun *run, const char *name, int value, const char *const *words) {
    expect(run, name, (ExpectedValue){.kind = VALUE_WORD, .value.integer = value, .words = words});
}

static void mistake(CaseRun *run, const char *name, int index, Value wrong) {
    for (int i = 0; i < run->n_mistakes; i++)
        if (run->mistakes[i].value == index && index >= 0 &&
            same(&run->values[index], run->mistakes[i].wrong, wrong))
            return;
    if (index >= 0 && same(&run->values[index], wrong, run->values[index].value)) return;
    ck_assert_int_lt(run->n_mistakes, CASE_MOST_MISTAKES);
    run->mistakes[run->n_mistakes++] = (Mistake){name, index, wrong};
}

STAND_IN void run_mistake_integer(CaseRun *run, const char *name, int64_t wrong) {
    mistake(run, name, run->n_values - 1, (Value){.integer = wrong});
}
STAND_IN void run_mistake_real(CaseRun *run, const char *name, double wrong) {
    mistake(run, name, run->n_values - 1, (Value){.real = wrong});
}
STAND_IN void run_mistake_status(CaseRun *run, const char *name, Status wrong) {
    mistake(run, name, -1, (Value){.integer = wrong});
}

// ---- compiling ---------------------------------------------------------------------------------
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZE "-fsanitize=address,undefined"
#else
#define SANITIZE ""
#endif

// build/normal, from the running program's own path.
static void build_folder(char *path, size_t size) {
    ssize_t length = readlink("/proc/self/exe", path, size - 1);
    ck_assert_int_gt(length, 0);
    path[length] = '\0';
    for (int i = 0; i < 2; i++) *strrchr(path, '/') = '\0';
}

// The student's object sees virtual time and the ledger, as the grader's does after objcopy.
#define RENAMED                                                                                    \
    "-Dmalloc=lab_malloc -Dcalloc=lab_calloc -Drealloc=lab_realloc -Dfree=lab_free "               \
    "-Dclock_gettime=lab_clock_gettime -Dclock_getres=lab_clock_getres -Dtime=lab_time "           \
    "-Dlayer_forward=lab_layer_forward -Dautograd_backward=lab_autograd_backward "                 \
    "-Doptimizer_step=lab_optimizer_step "                                                         \
    "-include stdlib.h -include time.h -include exercises/support/ledger.h "                       \
    "-include exercises/support/virtual_clock.h "

void student_compile(Student *student, const Exercise *exercise, const char *source) {
    char build[200], command[3000];
    build_folder(build, sizeof build);
    student->exercise = exercise;
    snprintf(student->program, sizeof student->program, "%s/tests/student_%d", build,
             (int)getpid());
    snprintf(command, sizeof command,
             "cc -std=c11 -D_GNU_SOURCE -I. -O1 -g %s -Wall -Wextra -Werror -Wno-unused-function "
             "" RENAMED "-c %s -o %s.o && "
             "cc -std=c11 -D_GNU_SOURCE -I. -O1 -g %s -DCALL=%s_call -o %s %s.o "
             "exercises/course/ex%s_%s_call.c tests/exercise/worker.c "
             "%s/exercises/libexercises.a %s/libridgepoint.a "
             "$(sed -n 's/^[A-Z]*_LIBS := //p' build/config.mk) -lm -ldl -pthread; "
             "code=$?; rm -f %s.o; exit $code",
             SANITIZE, source, student->program, SANITIZE, exercise->name, student->program,
             student->program, exercise->number, exercise->name, build, build, student->program);
    ck_assert_msg(system(command) == 0, "%s does not compile", source);
}

void student_remove(Student *student) { unlink(student->program); }

// ---- grading -----------------------------------------------------------------------------------
static void make_run(const Exercise *exercise, int number, int index, uint64_t seed, CaseRun *run) {
    uint64_t mixed = seed * 1000 + (uint64_t)number * 50 + (uint64_t)index;
    Draw draw = {.state = {mixed * UINT64_C(0x2545f4914f6cdd1d), 0}, .run = index};
    *run = (CaseRun){0};
    ck_assert_int_eq(exercise->cases[number].make(&draw, run), STATUS_OK);
}

static const char *mistake_of(const CaseRun *run, int value, Value got) {
    for (int i = 0; i < run->n_mistakes; i++) {
        const Mistake *known = &run->mistakes[i];
        if (known->value != value) continue;
        if (value < 0 ? known->wrong.integer == got.integer
                      : same(&run->values[value], got, known->wrong))
            return known->name;
    }
    return "";
}

static void tell(Verdict *verdict, const CaseRun *run, int index, Value got) {
    snprintf(verdict->mistake, sizeof verdict->mistake, "%s", mistake_of(run, index, got));
    const ExpectedValue *expected = &run->values[index < 0 ? 0 : index];
    if (index < 0)
        snprintf(verdict->detail, sizeof verdict->detail, "%s: status %" PRId64, run->input,
                 got.integer);
    else if (expected->kind == VALUE_REAL)
        snprintf(verdict->detail, sizeof verdict->detail, "%s: %s expected %.17g, got %.17g",
                 run->input, expected->name, expected->value.real, got.real);
    else
        snprintf(verdict->detail, sizeof verdict->detail,
                 "%s: %s expected %" PRId64 ", got %" PRId64, run->input, expected->name,
                 expected->value.integer, got.integer);
}

// A line of the worker against what was expected; false: it is wrong, and *verdict says how.
static bool judge(const CaseRun *run, char *line, Verdict *verdict) {
    char *word = strtok(line, " \n");
    snprintf(verdict->detail, sizeof verdict->detail, "%s: no answer", run->input);
    if (!word || strcmp(word, "status") != 0) return false;
    Value got = {.integer = atoi(strtok(NULL, " \n"))};
    verdict->status = (Status)got.integer;
    if (verdict->status != run->status) {
        tell(verdict, run, -1, got);
        return false;
    }
    for (int i = 0; i < run->n_values && !run->status; i++) {
        const ExpectedValue *expected = &run->values[i];
        word = strtok(NULL, " \n");
        bool real = expected->kind == VALUE_REAL;
        if (!word || (word[0] == 'x') != real) return false;
        uint64_t bits = real ? strtoull(word + 1, NULL, 16) : (uint64_t)strtoll(word, NULL, 10);
        memcpy(&got, &bits, sizeof bits);
        if (same(expected, got, expected->value)) continue;
        tell(verdict, run, i, got);
        return false;
    }
    return strtok(NULL, " \n") == NULL; // nothing more was sent
}

static FILE *answers_of(const Student *student, uint64_t first_seed, int n) {
    char inputs[300], command[1000];
    snprintf(inputs, sizeof inputs, "%s.in", student->program);
    FILE *file = fopen(inputs, "w");
    ck_assert_ptr_nonnull(file);
    CaseRun run;
    for (int s = 0; s < n; s++)
        for (int c = 0; c < student->exercise->n_cases; c++)
            for (int r = 0; r < student->exercise->cases[c].runs; r++) {
                if (student->exercise->cases[c].by_hand) continue;
                make_run(student->exercise, c, r, first_seed + (uint64_t)s, &run);
                fprintf(file, "%s\n", run.input);
            }
    fclose(file);
    snprintf(command, sizeof command, "timeout 60 %s <%s; rm -f %s", student->program, inputs,
             inputs);
    FILE *answers = popen(command, "r");
    ck_assert_ptr_nonnull(answers);
    return answers;
}

static void grade_one(const Exercise *exercise, uint64_t seed, FILE *answers, Verdict *verdict) {
    CaseRun run;
    *verdict = (Verdict){.first_failed = -1};
    for (int c = 0; c < exercise->n_cases; c++) {
        const ExerciseCase *definition = &exercise->cases[c];
        verdict->passed[c] = !definition->by_hand;
        for (int r = 0; r < definition->runs && !definition->by_hand; r++) {
            char line[4096];
            make_run(exercise, c, r, seed, &run);
            if (!fgets(line, sizeof line, answers)) line[0] = '\0';
            if (!verdict->passed[c]) continue; // the line is read, the case is lost
            Verdict scratch = {0};
            bool first = verdict->first_failed < 0;
            verdict->passed[c] = judge(&run, line, first ? verdict : &scratch);
            if (!verdict->passed[c] && first) verdict->first_failed = c;
        }
        if (verdict->passed[c]) verdict->points += definition->points;
    }
}

void student_grade(const Student *student, uint64_t first_seed, int n, Verdict *verdicts) {
    FILE *answers = answers_of(student, first_seed, n);
    for (int s = 0; s < n; s++)
        grade_one(student->exercise, first_seed + (uint64_t)s, answers, &verdicts[s]);
    pclose(answers);
}

// ---- mutants -----------------------------------------------------------------------------------
static char *read_file(const char *path) {
    FILE *file = fopen(path, "r");
    ck_assert_msg(file != NULL, "%s cannot be read", path);
    char *text = calloc(1, 1 << 16);
    ck_assert_ptr_nonnull(text);
    size_t length = fread(text, 1, (1 << 16) - 1, file);
    text[length] = '\0';
    fclose(file);
    return text;
}

static void replace_once(char *text, const char *old, const char *new, const char *name) {
    char *at = strstr(text, old);
    ck_assert_msg(at != NULL, "mutant %s: the solution has no\n%s", name, old);
    ck_assert_msg(!strstr(at + 1, old), "mutant %s: more than one\n%s", name, old);
    memmove(at + strlen(new), at + strlen(old), strlen(at + strlen(old)) + 1);
    memcpy(at, new, strlen(new));
}

// Lines marked with - become `old`, the lines marked with + that follow them `new`.
static char *apply_edits(char *line, char *text, const char *name) {
    while (line && *line == '-') {
        char old[2000] = "", new[2000] = "", *to = old;
        for (; line && (*line == '-' || *line == '+'); line = strchr(line, '\n') + 1) {
            if (*line == '-' && to == new) break;
            if (*line == '+') to = new;
            strncat(to, line + 1, strcspn(line + 1, "\n") + 1);
        }
        replace_once(text, old, new, name);
    }
    return text;
}

bool mutant_write(const Exercise *exercise, int index, const char *path, char name[64]) {
    char file[200];
    snprintf(file, sizeof file, "exercises/mutants/ex%s_%s.txt", exercise->number, exercise->name);
    char *mutants = read_file(file), *at = mutants;
    for (int i = -1; i < index && at; i++) at = strstr(at + 1, "\n== ");
    if (at) {
        if (exercise->answers)
            snprintf(file, sizeof file, "exercises/solutions/%s", exercise->answers);
        else
            snprintf(file, sizeof file, "exercises/solutions/ex%s_%s.c", exercise->number,
                     exercise->name);
        sscanf(at + 4, "%63s", name);
        char *text = apply_edits(strchr(at + 1, '\n') + 1, read_file(file), name);
        FILE *out = fopen(path, "w");
        ck_assert_ptr_nonnull(out);
        fputs(text, out);
        fclose(out);
        free(text);
    }
    free(mutants);
    return at != NULL;
}
