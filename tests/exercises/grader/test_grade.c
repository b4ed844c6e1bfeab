// test_grade.c -- grading: each way in which a case can end, in a small exercise of the tests' own.
// test_grade_course.c tests the course's exercises.
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exercises/selftest/alone.h"
#include "tensor/memory.h"
#include "tests/exercises/sample/sample_exercise.h"
#include "tests/helpers/harness.h"

static const char *not_alone; // the reason; NULL: none

static const CaseResult *case_of(const Submission *s, int index) {
    return &s->result.exercises[0].cases[index];
}

static void assert_state(const Submission *s, int index, CaseState state, const char *detail) {
    const CaseResult *one = case_of(s, index);
    ck_assert_msg(one->state == state && strstr(one->detail, detail), "%s: %s (%s), printed %s",
                  one->definition->name, case_state_word(one->state), one->detail,
                  one->output ? one->output : "nothing");
    ck_assert_int_eq(one->points, state == CASE_PASSED ? one->definition->points : 0);
}

// ---- values ------------------------------------------------------------------------------------
START_TEST(a_right_file_gets_all_points) {
    Submission s;
    submission_new(&s);
    submission_add(&s, "ex90_sample.c", SAMPLE_HEAD SAMPLE_RIGHT);
    submission_add(&s, "extra.txt", "17\n");
    GradeOptions options = submission_options(&s);
    options.key.student = "ada";
    CaseRun *run = memory_new(sizeof *run);
    char answer[64];
    exercise_run_make(&sample_exercise, &sample_exercise.cases[SAMPLE_HAND], options.key, 0, NULL,
                      run);
    snprintf(answer, sizeof answer, "sample_hand = %d\n", (int)run->values[0].value.integer);
    submission_add(&s, "by_hand.txt", answer);
    memory_free(run);
    submission_grade(&s, &options);
    for (int i = 0; i < SAMPLE_CASES; i++) assert_state(&s, i, CASE_PASSED, "");
    ck_assert_int_eq(s.result.points, 6);
    ck_assert_int_eq(s.result.most_points, 6);
    ck_assert_int_eq(s.result.passed, SAMPLE_CASES);
    ck_assert(s.result.layers & LAYER_LIMITS);
    submission_free(&s);
}
END_TEST

START_TEST(a_known_mistake_is_recognised_and_an_unknown_one_is_not) {
    Submission s;
    sample_grade(&s, SAMPLE_HEAD "*twice = n; *half = n / 2.0; return STATUS_OK; }");
    assert_state(&s, SAMPLE_VALUES, CASE_WRONG, "");
    const CaseResult *one = case_of(&s, SAMPLE_VALUES);
    ck_assert_str_eq(one->mistake, "not_doubled");
    ck_assert_int_eq(one->value, 0);
    ck_assert_int_eq(one->got.integer, 21);
    ck_assert_str_eq(one->asked->shown, "n = 21");
    assert_state(&s, SAMPLE_ERROR, CASE_WRONG, "");
    ck_assert_str_eq(case_of(&s, SAMPLE_ERROR)->mistake, "sign_unchecked");
    ck_assert_int_eq(case_of(&s, SAMPLE_ERROR)->value, -1);
    submission_free(&s);
    sample_grade(&s, SAMPLE_HEAD "*twice = 2 * n + (n > 21); *half = n / 2.0; return STATUS_OK; }");
    one = case_of(&s, SAMPLE_VALUES);
    assert_state(&s, SAMPLE_VALUES, CASE_WRONG, "");
    ck_assert_ptr_null(one->mistake);
    ck_assert_int_eq(one->run, 1); // run 0 was right
    submission_free(&s);
}
END_TEST

START_TEST(what_the_function_does_not_store_is_poison) {
    Submission s;
    sample_grade(&s, SAMPLE_HEAD "return STATUS_OK; }");
    assert_state(&s, SAMPLE_VALUES, CASE_WRONG, "");
    ck_assert_int_eq(case_of(&s, SAMPLE_VALUES)->got.integer, INT64_C(-6148914691236517206));
    submission_free(&s);
}
END_TEST

// "error" expects a status that a stub might return as well.
START_TEST(a_case_that_needs_another_counts_only_with_it) {
    Submission s;
    sample_grade(&s, SAMPLE_HEAD "return STATUS_INVALID_ARGUMENT; }");
    assert_state(&s, SAMPLE_VALUES, CASE_WRONG, "");
    assert_state(&s, SAMPLE_ERROR, CASE_WITHHELD, "values");
    ck_assert_int_eq(s.result.points, 0);
    submission_free(&s);
}
END_TEST

// Functions on the list of names must also work under the list of system calls.
START_TEST(what_may_be_called_works_in_a_worker) {
    static const char *const calls[] = {
        "static int v[300000]; for (int i = 0; i < 300000; i++) v[i] = 300000 - i;"
        "qsort(v, 300000, sizeof *v, by); if (v[0] != 1) return STATUS_IO;",
        "char s[9]; printf(\"%d %s %g\\n\", 3, \"x\", 2.5); fprintf(stderr, \"%s\", \"y\");"
        "snprintf(s, sizeof s, \"%lld\", (long long)n); puts(s); fflush(stdout); perror(s);",
        "struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); clock_getres(CLOCK_REALTIME, &t);"
        "t.tv_sec = 0; t.tv_nsec = 5; nanosleep(&t, NULL); (void)clock();",
        "time_t t = time(NULL); char s[40]; struct tm *m = localtime(&t);"
        "if (!m || !strftime(s, sizeof s, \"%F\", m) || !ctime(&t)) return STATUS_IO;",
        "char *p = malloc(5); p = realloc(p, 5000000); if (p) p[4999999] = 1; free(p);"
        "p = calloc(7, 7); free(p); p = strdup(\"x\"); free(p); p = aligned_alloc(64, 128); "
        "free(p);",
        "if (strtod(strtok((char[]){\"1.5 x\"}, \" \"), NULL) != 1.5) return STATUS_IO;"
        "if (strerror(2)[0] == 0 || strcoll(\"a\", \"b\") >= 0) return STATUS_IO;",
        "jmp_buf j; if (setjmp(j) == 0) longjmp(j, 1); assert(n != 4711); errno = 3;",
        "srand(3); double d = pow(rand(), 0.5) + tgamma(3) + fma(1, 2, 3); if (isnan(d)) abort();",
    };
    char source[3000];
    Submission s;
    snprintf(source, sizeof source,
             "#include <assert.h>\n#include <errno.h>\n#include <math.h>\n#include <setjmp.h>\n"
             "#include <time.h>\n#include <stdlib.h>\n"
             "int by(const void *a, const void *b) { return *(const int *)a - *(const int *)b; "
             "}\n" SAMPLE_HEAD "%s" SAMPLE_RIGHT,
             calls[_i]);
    submission_new(&s);
    submission_add(&s, "ex90_sample.c", source);
    GradeOptions options = submission_options(&s);
    options.only_case = "values";
    submission_grade(&s, &options);
    assert_state(&s, 0, CASE_PASSED, "");
    submission_free(&s);
}
END_TEST

// ---- other endings -----------------------------------------------------------------------------
typedef struct EndRow {
    const char *source;
    CaseState state;
    const char *detail; // a part of it
    bool any_name;
} EndRow;

// Frames with a wrong nonce.
#define FRAMES(n)                                                                                  \
    SAMPLE_HEAD "struct { uint32_t magic; uint16_t kind, run; uint64_t nonce, bits, more[2]; } "   \
                "f[" #n "]; memset(f, 0, sizeof f); for (int i = 0; i < " #n "; i++) {"            \
                "f[i].magic = 0x52505759; f[i].kind = (uint16_t)i; } write(3, f, sizeof f);"
#define BEFORE(does)                                                                               \
    "#include <unistd.h>\n__attribute__((constructor)) static void early(void) {" does "}\n"

static const EndRow end_rows[] = {
    {SAMPLE_HEAD "(void)n; (void)twice; (void)half; return STATUS_NOT_IMPLEMENTED; }",
     CASE_NOT_IMPLEMENTED, "", false},
    {SAMPLE_HEAD "return oops; }", CASE_NOT_COMPILED, "refuses", false},
    {SAMPLE_HEAD "*(volatile int *)0 = 1; return STATUS_OK; }", CASE_CRASHED, "signal 11", false},
    {SAMPLE_HEAD "abort(); }", CASE_CRASHED, "signal 6", false},
    {SAMPLE_HEAD "for (volatile int i = 0;; i++) {} }", CASE_TIMED_OUT, "", false},
    {SAMPLE_HEAD "exit(0); }", CASE_EXITED, "exit status 0 in run 1", false},
    {SAMPLE_HEAD "exit(3); }", CASE_EXITED, "exit status 3 in run 1", false},
    {SAMPLE_HEAD "puts(\"8 passed\"); _exit(0); }", CASE_EXITED, "exit status 0", true},
    {SAMPLE_HEAD "for (;;) puts(\"flood flood flood\"); }", CASE_FLOODED, "", false},
    {FRAMES(1) SAMPLE_RIGHT, CASE_FORGED, "in run 1", true},
    {FRAMES(5) "_exit(0); }", CASE_FORGED, "in run 1", true},
    {SAMPLE_HEAD "write(3, \"abc\", 3); _exit(0); }", CASE_EXITED, "", true},
    {SAMPLE_HEAD "for (;;) write(3, &n, 8); }", CASE_FORGED, "", true},
    {SAMPLE_HEAD "char *volatile p; for (;;) memset(p = malloc(1 << 20), 1, 1 << 20); }",
     CASE_OUT_OF_MEMORY, "", false},
    {SAMPLE_HEAD "return (Status)system(\"true\"); }", CASE_FORBIDDEN, "system", false},
    {SAMPLE_HEAD "return (Status)system(\"true\"); }", CASE_FORBIDDEN, "a system call", true},
    {SAMPLE_HEAD "volatile char *c = malloc(8); c[8] = 1; free((void *)c);" SAMPLE_RIGHT,
     CASE_CRASHED, "beyond its arrays", false},
    {SAMPLE_HEAD "volatile char c[8]; for (volatile int i = 0; i < 64; i++) c[i] = 1;" SAMPLE_RIGHT,
     CASE_CRASHED, "", false},
    {SAMPLE_HEAD "twice[-1] = 0; for (int i = 0; i < 3000; i++) half[i] = 0;" SAMPLE_RIGHT,
     CASE_CRASHED, "", false},
    // Code that runs before the worker's own cannot blame the grader.
    {BEFORE("_exit(3);") SAMPLE_HEAD SAMPLE_RIGHT, CASE_EXITED, "exit status 3 in run 1", true},
    {BEFORE("_exit(86);") SAMPLE_HEAD SAMPLE_RIGHT, CASE_CRASHED, "beyond its arrays", true},
    {BEFORE("_exit(126);") SAMPLE_HEAD SAMPLE_RIGHT, CASE_EXITED, "exit status 126", true},
    {BEFORE("close(3);") SAMPLE_HEAD SAMPLE_RIGHT, CASE_EXITED, "exit status 3", true},
    {BEFORE("__builtin_trap();") SAMPLE_HEAD SAMPLE_RIGHT, CASE_CRASHED, "signal 4", true},
    {"__asm__(\".section .interp,\\\"a\\\"\\n.asciz "
     "\\\"/nonexistent/loader\\\"\\n.text\");\n" SAMPLE_HEAD SAMPLE_RIGHT,
     CASE_STATE_COUNT, "", true},
    {"__asm__(\".section .bss\\n.balign 1 << 30\\n.skip 4096\\n.text\");\n"
     "static char large[1 << 28];\nchar *keep(void) { return large; }\n" SAMPLE_HEAD
     "if (n == 4711) return (Status)*keep();\n" SAMPLE_RIGHT,
     CASE_STATE_COUNT, "", true},
};

START_TEST(every_other_end_has_its_state) {
    Submission s;
    const EndRow *row = &end_rows[_i];
    if (row->any_name && not_alone) test_skip(not_alone);
    submission_new(&s);
    submission_add(&s, "ex90_sample.c", row->source);
    GradeOptions options = submission_options(&s);
    options.only_case = "values";
    options.any_name = row->any_name;
    submission_grade(&s, &options);
    if (row->state != CASE_STATE_COUNT) assert_state(&s, 0, row->state, row->detail);
    ck_assert_int_ne(case_of(&s, 0)->state, CASE_GRADER_FAILED);
    ck_assert(!s.result.machine_failed);
    ck_assert(row->state == CASE_STATE_COUNT || s.result.points == 0); // may also be right
    submission_free(&s);
}
END_TEST

START_TEST(what_is_missing_is_said) {
    Submission s;
    submission_new(&s);
    GradeOptions options = submission_options(&s);
    submission_grade(&s, &options);
    assert_state(&s, SAMPLE_VALUES, CASE_MISSING, "ex90_sample.c");
    assert_state(&s, SAMPLE_HAND, CASE_MISSING, "by_hand.txt");
    submission_add(&s, "ex90_sample.c", SAMPLE_HEAD SAMPLE_RIGHT);
    submission_add(&s, "by_hand.txt", "sample_hand = 42 apples\n");
    submission_grade(&s, &options);
    assert_state(&s, SAMPLE_VALUES, CASE_PASSED, "");
    assert_state(&s, SAMPLE_BESIDE, CASE_MISSING, "extra.txt");
    assert_state(&s, SAMPLE_HAND, CASE_WRONG, "leave out the unit");
    submission_add(&s, "by_hand.txt", "sample_hand = 21\n");
    submission_grade(&s, &options);
    ck_assert_str_eq(case_of(&s, SAMPLE_HAND)->mistake, "not_doubled");
    submission_free(&s);
}
END_TEST

START_TEST(a_grader_without_a_worker_says_so) {
    Submission s;
    submission_new(&s);
    submission_add(&s, "ex90_sample.c", SAMPLE_HEAD SAMPLE_RIGHT);
    GradeOptions options = submission_options(&s);
    options.parts = "build/lab";
    submission_grade(&s, &options);
    assert_state(&s, SAMPLE_VALUES, CASE_GRADER_FAILED, "an object file");
    grade_free(&s.result);
    options.parts = "/nonexistent";
    submission_grade(&s, &options);
    assert_state(&s, SAMPLE_VALUES, CASE_GRADER_FAILED, "tools");
    ck_assert(s.result.machine_failed);
    submission_free(&s);
}
END_TEST

START_TEST(strangers_are_not_graded_where_nothing_keeps_them_in) {
    static const unsigned left_out[] = {LAYER_CALLS, LAYER_FILES | LAYER_BUBBLEWRAP};
    static const char *const missing[] = {"from system calls (seccomp). ",
                                          "from files (Landlock or bubblewrap). "};
    Submission s;
    if (not_alone) test_skip(not_alone);
    submission_new(&s);
    submission_add(&s, "ex90_sample.c", SAMPLE_HEAD SAMPLE_RIGHT);
    GradeOptions options = submission_options(&s);
    options.only_case = "values";
    for (int i = 0; i < 2; i++) {
        options.without = left_out[i];
        options.own = options.disposable = false;
        ck_assert_int_eq(grade(&options, &s.result), STATUS_STATE);
        ck_assert_ptr_nonnull(strstr(error_message(), "--disposable"));
        ck_assert_ptr_nonnull(strstr(error_message(), missing[i]));
        error_clear();
        options.own = true;
        submission_grade(&s, &options);
        assert_state(&s, 0, CASE_PASSED, "");
        ck_assert(!s.result.disposable);
        grade_free(&s.result);
        options.own = false;
        options.disposable = true;
        submission_grade(&s, &options);
        assert_state(&s, 0, CASE_PASSED, "");
        ck_assert(s.result.disposable);
        grade_free(&s.result);
    }
    submission_free(&s);
}
END_TEST

static int count_rooms(void) {
    int count = 0;
    DIR *folder = opendir("/tmp");
    ck_assert_ptr_nonnull(folder);
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;)
        count += strncmp(entry->d_name, "ridgepoint-", strlen("ridgepoint-")) == 0;
    closedir(folder);
    return count;
}

// A grader that is called off leaves nothing behind, and ends by the signal.
START_TEST(a_grader_that_is_called_off_tidies_up) {
    Submission s;
    int status = 0;
    if (not_alone) test_skip(not_alone);
    submission_new(&s);
    submission_add(&s, "ex90_sample.c", SAMPLE_HEAD "for (;;) continue; }");
    GradeOptions options = submission_options(&s);
    int before = count_rooms();
    pid_t child = fork();
    if (child == 0) {
        signal(SIGTERM, SIG_DFL); // removes Check's handler
        _exit(grade(&options, &s.result) ? 1 : 0);
    }
    while (count_rooms() == before && waitpid(child, &status, WNOHANG) == 0) usleep(1000);
    usleep(300000);
    ck_assert_int_eq(kill(child, SIGTERM), 0);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    ck_assert_int_eq(count_rooms(), before);
    submission_free(&s);
}
END_TEST

// If the machine fails no case counts, and the submission is graded again.
START_TEST(a_machine_that_fails_gives_no_points_at_all) {
    Submission s;
    submission_new(&s);
    submission_add(&s, "ex90_sample.c", SAMPLE_HEAD SAMPLE_RIGHT);
    submission_add(&s, "by_hand.txt", "sample_hand = 42\n");
    submission_add(&s, "extra.txt", "17\n");
    GradeOptions options = submission_options(&s);
    ck_assert_int_eq(setenv("TMPDIR", "/nonexistent", 1), 0);
    submission_grade(&s, &options);
    assert_state(&s, SAMPLE_VALUES, CASE_GRADER_FAILED, "TMPDIR");
    assert_state(&s, SAMPLE_HAND, CASE_PRACTICE, "");
    ck_assert(s.result.machine_failed);
    ck_assert_int_eq(s.result.points, 0);
    submission_free(&s);
}
END_TEST

// Only text answers, where each allocation is the grader's own.
START_TEST(memory_that_runs_out_is_an_error_and_leaves_nothing) {
    Submission s;
    int failures = 0;
    submission_new(&s);
    submission_add(&s, "by_hand.txt", "sample_hand = 42\n");
    GradeOptions options = submission_options(&s);
    options.only_case = "hand";
    for (uint64_t nth = 1;; nth++) {
        memory_fail_at(nth);
        Status status = grade(&options, &s.result);
        memory_fail_at(0);
        error_clear();
        if (status == STATUS_OK) break;
        ck_assert_int_eq(status, STATUS_OUT_OF_MEMORY);
        grade_free(&s.result);
        failures++;
    }
    ck_assert_int_gt(failures, 5);
    assert_state(&s, 0, CASE_PRACTICE, "");
    submission_free(&s);
}
END_TEST

// Code is built and run, and every fifth allocation fails in turn.
START_TEST(memory_that_runs_out_midway_adds_no_point) {
    Submission s;
    submission_new(&s);
    submission_add(&s, "ex90_sample.c", SAMPLE_HEAD SAMPLE_RIGHT);
    GradeOptions options = submission_options(&s);
    options.only_case = "values";
    for (uint64_t nth = 1 + (uint64_t)_i;; nth += 5) {
        memory_fail_at(nth);
        uint64_t before = memory_requests();
        Status status = grade(&options, &s.result);
        memory_fail_at(0);
        error_clear();
        bool failed = memory_requests() - before >= nth;
        ck_assert(!failed || s.result.points == 0);
        ck_assert(failed || (status == STATUS_OK && s.result.points == 2));
        grade_free(&s.result);
        if (!failed) break;
    }
    submission_free(&s);
}
END_TEST

// ---- options -----------------------------------------------------------------------------------
START_TEST(one_case_is_graded_with_what_decides_on_it) {
    Submission s;
    submission_new(&s);
    submission_add(&s, "ex90_sample.c", SAMPLE_HEAD "return STATUS_INVALID_ARGUMENT; }");
    GradeOptions options = submission_options(&s);
    options.only_case = "error";
    submission_grade(&s, &options);
    ck_assert_int_eq(s.result.exercises[0].n_cases, 1);
    ck_assert_int_eq(s.result.most_points, 1);
    assert_state(&s, 0, CASE_WITHHELD, "values");
    options.only_case = "nothing";
    grade_free(&s.result);
    ck_assert_int_eq(grade(&options, &s.result), STATUS_INVALID_ARGUMENT);
    error_clear();
    submission_free(&s);
}
END_TEST

START_TEST(fuzz_finds_what_the_runs_of_a_case_do_not) {
    Submission s;
    submission_new(&s);
    submission_add(&s, "ex90_sample.c",
                   SAMPLE_HEAD "static int calls; *twice = 2 * n + (++calls > 3);"
                               "*half = n / 2.0; return STATUS_OK; }");
    GradeOptions options = submission_options(&s);
    options.only_case = "values";
    submission_grade(&s, &options);
    assert_state(&s, 0, CASE_PASSED, "");
    options.fuzz = 50;
    submission_grade(&s, &options);
    assert_state(&s, 0, CASE_WRONG, "");
    ck_assert_int_ge(case_of(&s, 0)->run, 3);
    options.fuzz = 0;
    options.seeds = 5;
    submission_grade(&s, &options);
    assert_state(&s, 0, CASE_WRONG, "");
    options.seeds = 1 << 20;
    submission_grade(&s, &options);
    assert_state(&s, 0, CASE_GRADER_FAILED, "more than 65535 runs");
    submission_free(&s);
}
END_TEST

START_TEST(another_seed_asks_other_numbers_and_the_same_seed_the_same) {
    Submission s;
    sample_grade(&s, SAMPLE_HEAD "*twice = 42; *half = 10.5; return STATUS_OK; }");
    char first[CASE_LINE];
    snprintf(first, sizeof first, "%s", case_of(&s, SAMPLE_VALUES)->asked->shown);
    GradeOptions options = submission_options(&s);
    submission_grade(&s, &options);
    ck_assert_str_eq(case_of(&s, SAMPLE_VALUES)->asked->shown, first);
    options.key.seed = 7;
    submission_grade(&s, &options);
    ck_assert_str_ne(case_of(&s, SAMPLE_VALUES)->asked->shown, first);
    submission_free(&s);
}
END_TEST

START_TEST(the_sanitizer_names_what_went_wrong) {
    Submission s;
    sample_needs_sanitizer();
    submission_new(&s);
    submission_add(&s, "ex90_sample.c",
                   SAMPLE_HEAD "volatile char *c = malloc(8); c[8 + (n < 0)] = 1;" SAMPLE_RIGHT);
    GradeOptions options = submission_options(&s);
    options.sanitize = true;
    options.only_case = "values";
    submission_grade(&s, &options);
    assert_state(&s, 0, CASE_CRASHED, "AddressSanitizer: heap-buffer-overflow");
    submission_free(&s);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {a_right_file_gets_all_points, 0},
        {a_known_mistake_is_recognised_and_an_unknown_one_is_not, 0},
        {what_the_function_does_not_store_is_poison, 0},
        {a_case_that_needs_another_counts_only_with_it, 0},
        {what_may_be_called_works_in_a_worker, 8},
        {every_other_end_has_its_state, (int)(sizeof end_rows / sizeof end_rows[0])},
        {what_is_missing_is_said, 0},
        {a_grader_without_a_worker_says_so, 0},
        {a_grader_that_is_called_off_tidies_up, 0},
        {strangers_are_not_graded_where_nothing_keeps_them_in, 0},
        {a_machine_that_fails_gives_no_points_at_all, 0},
        {memory_that_runs_out_is_an_error_and_leaves_nothing, 0},
        {memory_that_runs_out_midway_adds_no_point, 5},
        {one_case_is_graded_with_what_decides_on_it, 0},
        {fuzz_finds_what_the_runs_of_a_case_do_not, 0},
        {another_seed_asks_other_numbers_and_the_same_seed_the_same, 0},
        {the_sanitizer_names_what_went_wrong, 0},
        {NULL, 0},
    };
    not_alone = alone_enter();
    return harness_main("grade", tests);
}
