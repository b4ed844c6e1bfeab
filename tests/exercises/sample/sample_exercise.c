// sample_exercise.c -- an exercise with one case of each kind, and its submissions.
#include "tests/exercises/sample/sample_exercise.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exercises/course/text_file.h"
#include "tests/helpers/harness.h"

void sample_needs_sanitizer(void) {
    if (system("out=$(mktemp) && echo 'int main(void) { return 0; }' | "
               "\"$(head -n 1 " SAMPLE_PARTS "/tools)\" -fsanitize=address -x c - -o \"$out\" "
               ">/dev/null 2>&1; well=$?; rm -f \"$out\"; exit $well") != 0)
        test_skip("the compiler has no AddressSanitizer: make setup");
}

// ---- the exercise ------------------------------------------------------------------------------
static void ask(CaseRun *run, int64_t n) {
    snprintf(run->input, sizeof run->input, "%lld", (long long)n);
    snprintf(run->shown, sizeof run->shown, "n = %lld", (long long)n);
    snprintf(run->asked, sizeof run->asked, "twice and half of it");
    snprintf(run->formula, sizeof run->formula, "2 * n, n / 2");
    run_expect_integer(run, "twice", 2 * n);
    run_mistake_integer(run, "not_doubled", n);
    run_expect_real(run, "half", 0.5 * (double)n, 1e-9);
    run_mistake_real(run, "integer_division", (double)(n / 2));
}

static Status values(Draw *draw, CaseRun *run) {
    ask(run, draw->run == 0 ? 21 : 2 * draw_between(draw, 1, 1000000) + 1);
    return STATUS_OK;
}

static Status error(Draw *draw, CaseRun *run) {
    (void)draw;
    ask(run, -1);
    run->status = STATUS_INVALID_ARGUMENT;
    run->n_values = run->n_mistakes = 0;
    run_mistake_status(run, "sign_unchecked", STATUS_OK);
    return STATUS_OK;
}

static Status hand(Draw *draw, CaseRun *run) {
    run_expect_integer(run, "", draw->practice ? 42 : draw_between(draw, 100, 999));
    run_mistake_integer(run, "not_doubled", 21);
    return STATUS_OK;
}

static Status beside(Draw *draw, CaseRun *run) {
    ask(run, draw->beside ? strtoll(draw->beside, NULL, 10) : 0);
    return STATUS_OK;
}

static const ExerciseCase cases[] = {
    [SAMPLE_VALUES] = {.name = "values", .points = 2, .runs = 3, .make = values},
    [SAMPLE_ERROR] = {.name = "error", .points = 1, .runs = 1, .needs = "values", .make = error},
    [SAMPLE_HIDDEN] = {.name = "hidden", .points = 1, .runs = 2, .hidden = true, .make = values},
    [SAMPLE_HAND] =
        {.name = "hand", .points = 1, .runs = 1, .by_hand = "sample_hand", .make = hand},
    [SAMPLE_BESIDE] =
        {.name = "beside", .points = 1, .runs = 1, .beside = "extra.txt", .make = beside},
};

const Exercise sample_exercise = {.number = "90",
                                  .name = "sample",
                                  .function = "sample",
                                  .title = "Twice and half",
                                  .points = 6,
                                  .cases = cases,
                                  .n_cases = SAMPLE_CASES};

// ---- submissions -------------------------------------------------------------------------------
void submission_new(Submission *submission) {
    *submission = (Submission){.folder = "/tmp/ridgepoint-sample-XXXXXX"};
    ck_assert_ptr_nonnull(mkdtemp(submission->folder));
    ck_assert_int_eq(chmod(submission->folder, 0755), 0);
}

void submission_add(const Submission *submission, const char *name, const char *text) {
    Status status = file_write(submission->folder, name, text, strlen(text));
    ck_assert_msg(status == STATUS_OK, "%s", error_message());
}

GradeOptions submission_options(const Submission *submission) {
    static const Exercise *const list[] = {&sample_exercise};
    return (GradeOptions){.exercises = list,
                          .n_exercises = 1,
                          .folder = submission->folder,
                          .parts = SAMPLE_PARTS,
                          .key = {.secret = "", .student = ""}};
}

void submission_grade(Submission *submission, const GradeOptions *options) {
    grade_free(&submission->result);
    Status status = grade(options, &submission->result);
    ck_assert_msg(status == STATUS_OK, "%s", error_message());
    ck_assert_msg(!error_pending(), "%s", error_message());
}

void submission_free(Submission *submission) {
    grade_free(&submission->result);
    DIR *folder = opendir(submission->folder);
    ck_assert_ptr_nonnull(folder);
    for (const struct dirent *entry; (entry = readdir(folder));)
        unlinkat(dirfd(folder), entry->d_name, 0); // deletes files; "." and ".." stay
    closedir(folder);
    ck_assert_int_eq(rmdir(submission->folder), 0);
}

void sample_grade(Submission *submission, const char *source) {
    submission_new(submission);
    submission_add(submission, "ex90_sample.c", source);
    GradeOptions options = submission_options(submission);
    submission_grade(submission, &options);
}
