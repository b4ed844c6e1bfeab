// test_profile_again.c -- the programs' --runs and --try: the same command in fresh processes,
// their joint result, and processes that fail.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/helpers/harness.h"
#include "tests/helpers/profile_document.h"
#include "tests/helpers/run_program.h"
#include "tests/helpers/work_folder.h"

#define QUICK " --iterations 7 --warmup 2"
#define PEAKS " --peaks tests/fixtures/peaks.json"
#define SMALL "--layers 20,30,10 --batch 8" QUICK

static ProgramRun run(const char *arguments) {
    return program_run(program_path("profile_mlp"), arguments, PROGRAM_CAPTURED);
}

// ---- --runs ------------------------------------------------------------------------------------
static void check_across(json_t *latency, int runs, double confidence) {
    json_t *across = json_object_get(latency, "across_runs");
    json_t *samples = json_object_get(across, "samples"), *ci = json_object_get(across, "ci95");
    ck_assert_int_eq(json_integer_value(json_object_get(across, "n")), runs);
    ck_assert_int_eq((int)json_array_size(samples), runs);
    double median = json_number_value(json_object_get(across, "median"));
    double low = json_number_value(json_array_get(ci, 0));
    double high = json_number_value(json_array_get(ci, 1));
    ck_assert_msg(low <= median && median <= high && low > 0.0, "%g of %g to %g", median, low,
                  high);
    ck_assert_double_eq_tol(json_number_value(json_object_get(across, "confidence")), confidence,
                            1e-9);
    double own = json_number_value(json_object_get(latency, "median"));
    ck_assert_double_eq(json_number_value(json_array_get(samples, 0)), own);
}

START_TEST(each_latency_has_the_medians_of_all_runs) {
    json_t *document = document_new("--epochs 0 --runs 3 " SMALL PEAKS);
    check_across(document_at(document, "totals.step.latency"), 3, 0.75);
    check_across(document_at(document, "totals.backward.latency"), 3, 0.75);
    check_across(document_at(document, "totals.inference"), 3, 0.75);
    json_t *layers = document_at(document, "layers");
    check_across(document_at(json_array_get(layers, 0), "backward_weight.latency"), 3, 0.75);
    json_decref(document);
    document = document_new("--epochs 0 " SMALL PEAKS);
    ck_assert(json_is_null(document_at(document, "totals.step.latency.across_runs")));
    json_decref(document);
}
END_TEST

START_TEST(the_report_says_which_interval_is_which) {
    ProgramRun got = run("--epochs 0 --runs 2 " SMALL PEAKS);
    ck_assert_msg(got.status == 0 && !got.err[0], "%s", got.err);
    program_check_columns(got.out);
    const char *lines[] = {"(median; this run ", "\n    in 2 runs ", "(median; across runs ",
                           "\nintervals: this run's 95% sure; across runs, ",
                           ", in fresh processes, 50% sure\n"};
    for (int i = 0; i < 5; i++)
        ck_assert_msg(strstr(got.out, lines[i]), "no %s in\n%.2000s", lines[i], got.out);
    program_run_free(&got);
    got = run("--runs 2 --explain fc1 " SMALL PEAKS);
    ck_assert_msg(strstr(got.out, "\n  across runs     forward ") != NULL, "%.2000s", got.out);
    program_run_free(&got);
}
END_TEST

// The other processes write no files and do not train; the program itself trains once.
START_TEST(other_processes_only_measure) {
    char arguments[400];
    work_folder_begin();
    snprintf(arguments, sizeof arguments,
             "--epochs 1 --runs 3 --trace %s/t.json --checkpoint %s/c --json %s/p.json " SMALL PEAKS
             " --layers 784,8,10",
             work_folder, work_folder, work_folder);
    ProgramRun got = run(arguments);
    ck_assert_msg(got.status == 0 && !got.err[0], "%s", got.err);
    const char *training = strstr(got.out, "\nTRAINING");
    ck_assert_msg(training && !strstr(training + 1, "\nTRAINING"), "%s", got.out);
    work_folder_run("test -s t.json -a -s c -a -s p.json -a $(ls | wc -l) = 3");
    program_run_free(&got);
    work_folder_end();
}
END_TEST

START_TEST(a_process_that_ends_badly_is_told) {
    work_folder_begin();
    char path[64];
    snprintf(path, sizeof path, "%s/limited", work_folder);
    FILE *file = fopen(path, "w");
    fprintf(file, "ulimit -t 1\nexec profile_mlp --epochs 0 --runs 2 --peaks none "
                  "--iterations 1000000\n");
    fclose(file);
    program_names();
    ProgramRun got = program_run("/bin/sh", path, PROGRAM_CAPTURED);
    ck_assert_msg(got.status == 3 &&
                      strstr(got.err, "profile_mlp: --runs: its process ended with signal"),
                  "%d: %s", got.status, got.err);
    program_run_free(&got);
    work_folder_end();
}
END_TEST

// Flags under trial go before the "--", after which only networks may stand.
START_TEST(flags_stand_before_what_are_none) {
    ProgramRun got =
        program_run(program_path("profile_model"),
                    "--batch 4 --iterations 30 --try" PEAKS " -- lenet5", PROGRAM_CAPTURED);
    ck_assert_msg(got.status == 0 && !got.err[0] && strncmp(got.out, "TRIED  ", 7) == 0, "%s%s",
                  got.err, got.out);
    program_run_free(&got);
}
END_TEST

// ---- --try -------------------------------------------------------------------------------------
// On a busy machine nothing is predicted, so nothing is tried.
START_TEST(advice_is_tried_in_turns) {
    char arguments[300];
    work_folder_begin();
    snprintf(arguments, sizeof arguments,
             "--layers 64,64,10 --batch 4 --iterations 30 --try --json %s/p.json" PEAKS,
             work_folder);
    ProgramRun got = run(arguments);
    ck_assert_msg(got.status == 0 && !got.err[0] && strncmp(got.out, "TRIED  ", 7) == 0, "%s%s",
                  got.err, got.out);
    program_check_columns(got.out);
    char path[64];
    snprintf(path, sizeof path, "%s/p.json", work_folder);
    json_t *document = json_load_file(path, 0, NULL), *tried = json_object_get(document, "tried");
    bool noise = strstr(got.out, "too noisy") != NULL;
    ck_assert_int_eq(json_is_null(tried), noise);
    for (size_t i = 0; i < json_array_size(tried); i++) {
        json_t *one = json_array_get(tried, i);
        ck_assert_int_eq(document_integer(one, "n"), 5);
        ck_assert_msg(strstr(got.out, json_string_value(json_object_get(one, "check"))), "%s",
                      got.out);
        double bytes = (double)document_integer(one, "bytes"); // without the optimizer's scalars
        ck_assert_double_eq_tol((double)document_integer(one, "predicted_bytes"), bytes, 16.0);
    }
    json_decref(document);
    program_run_free(&got);
    work_folder_end();
}
END_TEST

// ---- --peaks none ------------------------------------------------------------------------------
// The machine is not measured either: without a cache the program would say so.
START_TEST(without_ceilings_there_are_times_and_no_verdicts) {
    program_names();
    ProgramRun got =
        program_run("/usr/bin/env",
                    "XDG_CACHE_HOME=/dev/null profile_mlp --epochs 0 --peaks none " SMALL,
                    PROGRAM_CAPTURED);
    ck_assert_msg(got.status == 0 && !got.err[0], "%s", got.err);
    ck_assert_msg(!strstr(got.out, "Measured") && !strstr(got.out, "ROOFLINE") &&
                      !strstr(got.out, "bound"),
                  "%s", got.out);
    program_run_free(&got);
    json_t *document = document_new("--epochs 0 --peaks none " SMALL);
    ck_assert(json_is_null(document_at(document, "machine")));
    ck_assert(document_real(document, "totals.step.latency.median") > 0.0);
    json_decref(document);
}
END_TEST

// ---- refusals ----------------------------------------------------------------------------------
static const struct {
    const char *program, *arguments, *first, *second;
} refused[] = {
    {"profile_mlp", "--runs 0", "--runs 0", "1 to 1000"},
    {"profile_mlp", "--runs 2 --device meta", "--runs", "--device cpu"},
    {"profile_mlp", "--try --device meta", "--try", "--device cpu"},
    {"profile_mlp", "--try --peaks none", "--try", "leave out --peaks none"},
    {"profile_mlp", "--calibrate --peaks none", "--calibrate", "exclude each other"},
    {"profile_model", "lenet5 resnet18 --runs 2", "--runs", "leave out resnet18"},
    {"profile_model", "char-gpt --generate 2 --runs 2", "--runs", "leave out --generate"},
};
enum { REFUSED = sizeof refused / sizeof refused[0] };

START_TEST(what_cannot_be_is_refused) {
    ProgramRun got =
        program_run(program_path(refused[_i].program), refused[_i].arguments, PROGRAM_CAPTURED);
    program_check_refusal(&got, 2, refused[_i].first, refused[_i].second);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {each_latency_has_the_medians_of_all_runs, 0},
        {the_report_says_which_interval_is_which, 0},
        {other_processes_only_measure, 0},
        {a_process_that_ends_badly_is_told, 0},
        {flags_stand_before_what_are_none, 0},
        {advice_is_tried_in_turns, 0},
        {without_ceilings_there_are_times_and_no_verdicts, 0},
        {what_cannot_be_is_refused, REFUSED},
        {NULL, 0},
    };
    return harness_main("profile_again", tests);
}
