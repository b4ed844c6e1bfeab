// test_profile_mlp.c -- ./profile_mlp from outside: its command line, exit status, files, streams,
// and what its training reaches. What the report looks like is test_profile_report.c's.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/data_files.h"
#include "tests/harness.h"
#include "tests/profile_document.h"
#include "tests/run_program.h"

#define QUICK " --iterations 3 --warmup 2"
#define SMALL "--layers 20,30,10 --batch 8 --epochs 0" QUICK

static ProgramRun run(const char *arguments) {
    return program_run(program_path("profile_mlp"), arguments, PROGRAM_CAPTURED);
}

// Ends with `status`, nothing on standard output and one line on standard error, which says who
// complains and mentions both.
static void check_refusal(ProgramRun *got, int status, const char *first, const char *second) {
    ck_assert_msg(got->status == status, "exit status %d instead of %d: %s", got->status, status,
                  got->err);
    ck_assert_msg(program_count_lines(got->err) == 1, "not one line: \"%s\"", got->err);
    ck_assert_msg(strncmp(got->err, "profile_mlp: ", 13) == 0, "%s", got->err);
    ck_assert_msg(strstr(got->err, first) && strstr(got->err, second),
                  "\"%s\" lacks \"%s\" or \"%s\"", got->err, first, second);
    program_run_free(got);
}

// ---- options ---------------------------------------------------------------------------------
START_TEST(help_lists_every_option_and_succeeds) {
    static const char *const options[] = {"--layers N,N,...", "--activation NAME", "--batch N",
                                          "--optimizer NAME", "--lr RATE",         "--epochs N",
                                          "--steps N",        "--data DIR",        "--seed N",
                                          "--threads N",      "--device NAME",     "--iterations N",
                                          "--warmup N",       "--json FILE",       "--quiet",
                                          "--help",           "--version",         "Exit status:"};
    ProgramRun got = run("--help");
    ck_assert_int_eq(got.status, 0);
    ck_assert_str_eq(got.err, "");
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
        ck_assert_msg(strstr(got.out, options[i]) != NULL, "--help does not mention %s",
                      options[i]);
    int listed = 0;
    for (const char *at = got.out; (at = strstr(at, "\n  --")); at++) listed++;
    ck_assert_msg(listed == 17, "%d options in --help, but this test knows 17", listed);
    program_run_free(&got);
}
END_TEST

START_TEST(version_is_one_line) {
    ProgramRun got = run("--version");
    int major, minor, patch;
    ck_assert_int_eq(got.status, 0);
    ck_assert_int_eq(sscanf(got.out, "profile_mlp %d.%d.%d\n", &major, &minor, &patch), 3);
    ck_assert_int_eq(program_count_lines(got.out), 1);
    ck_assert_str_eq(got.err, "");
    program_run_free(&got);
}
END_TEST

#define SIXTEEN_SIZES "9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9,"
static const struct {
    const char *arguments, *what, *expectation;
} wrong[] = {
    {"--nope", "--nope", "--help"},
    {"-x", "-x", "--help"},
    {"stray", "stray", "--help"},
    {"--epochs 0 -", "-", "--help"},
    {"--l 10,5", "--l", ""}, // --layers or --lr
    {"--layers", "--layers", "needs a value"},
    {"--json", "--json", "needs a value"},
    {"--data", "--data", "needs a value"},
    {"--help=3", "--help", "no value"},
    {"--quiet=1", "--quiet", "no value"},
    {"--layers 10,x", "--layers 10,x", "784,512,10"},
    {"--layers 10", "--layers 10", "784,10"},
    {"--layers 0,5", "--layers 0,5", "at least 1"},
    {"--layers 5,-3", "--layers 5,-3", "at least 1"},
    {"--layers 10,", "--layers 10,", "784,512,10"},
    {"--layers 10;5", "--layers 10;5", "commas"},
    {"--layers 10,9999999999", "--layers", "784,512,10"},
    {"--layers " SIXTEEN_SIZES SIXTEEN_SIZES SIXTEEN_SIZES SIXTEEN_SIZES "9", "--layers", "64"},
    {"--activation foo", "--activation foo", "gelu_tanh"},
    {"--batch 0", "--batch 0", "from 1 to"},
    {"--batch 1e3", "--batch 1e3", "whole number"},
    {"--batch 99999999999999999999", "--batch 9", "whole number"},
    {"--optimizer foo", "--optimizer foo", "sgd, momentum, adam or adamw"},
    {"--lr -1", "--lr -1", "above 0"},
    {"--lr 0", "--lr 0", "above 0"},
    {"--lr nan", "--lr nan", "above 0"},
    {"--lr 0.1x", "--lr 0.1x", "above 0"},
    {"--epochs -1", "--epochs -1", "from 0 to"},
    {"--steps 1.5", "--steps 1.5", "whole number"},
    {"--seed x", "--seed x", "whole number"},
    {"--threads 0", "--threads 0", "from 1 to 64"},
    {"--threads 65", "--threads 65", "from 1 to 64"},
    {"--device nope", "--device nope", "cpu or meta"},
    {"--iterations -1", "--iterations -1", "from 0 to"},
    {"--warmup x", "--warmup x", "whole number"},
};
enum { WRONG = sizeof wrong / sizeof wrong[0] };

START_TEST(a_wrong_command_line_is_refused_in_one_line_that_says_what_was_expected) {
    ProgramRun got = run(wrong[_i].arguments);
    ck_assert_msg(!got.out[0], "standard output: %s", got.out);
    check_refusal(&got, 2, wrong[_i].what, wrong[_i].expectation);
}
END_TEST

START_TEST(an_abbreviation_of_one_option_is_that_option) {
    json_t *document = document_new("--dev meta --ep 0 --lay 6,4 --bat 3");
    ck_assert_int_eq(document_integer(document, "model.batch"), 3);
    ck_assert_int_eq(document_integer(document, "model.parameters"), 28);
    json_decref(document);
}
END_TEST

// ---- data ------------------------------------------------------------------------------------
START_TEST(a_folder_that_cannot_be_used_is_refused_before_anything_is_measured) {
    char folder[DATA_PATH], arguments[2 * DATA_PATH];
    ProgramRun got = run("--data /nonexistent");
    ck_assert_str_eq(got.out, "");
    check_refusal(&got, 3, "/nonexistent", "HINT");
    data_folder_new(folder);
    snprintf(arguments, sizeof arguments, "--data %s", folder);
    got = run(arguments);
    check_refusal(&got, 3, folder, "ubyte");
    DataBytes images = data_images(20, 28, 28);
    images.size -= 100;
    data_write(folder, DATA_TRAIN_IMAGES, images);
    data_write(folder, DATA_TRAIN_LABELS, data_labels(20));
    got = run(arguments);
    ck_assert_str_eq(got.out, "");
    check_refusal(&got, 3, DATA_TRAIN_IMAGES, "HINT");
    data_write(folder, DATA_TRAIN_IMAGES, data_images(20, 8, 8));
    got = run(arguments);
    ck_assert_str_eq(got.out, "");
    check_refusal(&got, 3, "64 pixels", "--layers 64,...,10");
    data_folder_remove(folder);
}
END_TEST

START_TEST(a_folder_of_images_is_trained_on) {
    char folder[DATA_PATH], arguments[2 * DATA_PATH];
    data_folder_new(folder);
    data_write(folder, DATA_TRAIN_IMAGES, data_images(100, 4, 4));
    data_write(folder, DATA_TRAIN_LABELS, data_labels(100));
    snprintf(arguments, sizeof arguments, "--data %s --layers 16,10 --batch 9 --epochs 2" QUICK,
             folder);
    json_t *document = document_new(arguments);
    const char *name = json_string_value(document_at(document, "training.data"));
    ck_assert_msg(name && strcmp(name, folder) == 0, "training on %s", name);
    ck_assert_int_eq(document_integer(document, "training.epochs"), 2);
    ck_assert_int_eq(document_integer(document, "training.steps"), 18); // 80 images, 9 at a time
    json_decref(document);
    data_folder_remove(folder);
}
END_TEST

// ---- output that cannot be written -----------------------------------------------------------
START_TEST(json_that_cannot_be_written_is_status_3) {
    static const char *const places[] = {"/nonexistent/p.json", "/dev/null/p.json", "/dev/full"};
    char arguments[256];
    for (int i = 0; i < 3; i++) {
        snprintf(arguments, sizeof arguments, SMALL " --quiet --json %s", places[i]);
        ProgramRun got = run(arguments);
        ck_assert_str_eq(got.out, "");
        check_refusal(&got, 3, places[i], "HINT");
    }
}
END_TEST

START_TEST(a_full_disk_under_standard_output_is_status_3) {
    static const char *const arguments[] = {SMALL, SMALL " --json -", SMALL " --json /dev/null",
                                            "--help"};
    for (int i = 0; i < 4; i++) {
        ProgramRun got = program_run(program_path("profile_mlp"), arguments[i], PROGRAM_FULL_DISK);
        check_refusal(&got, 3, "standard output", "No space left");
    }
}
END_TEST

// As `| head -1`: the shell shows nothing when SIGPIPE ends a program, so it must not speak,
// either.
START_TEST(a_reader_that_has_had_enough_gets_no_complaint) {
    static const char *const arguments[] = {SMALL, SMALL " --json -", SMALL " --json /dev/null",
                                            "--epochs 1 --steps 2" QUICK, "--help"};
    static const ProgramOutput outputs[] = {PROGRAM_NO_READER, PROGRAM_DEAF_TO_IT};
    for (int i = 0; i < 2 * 5; i++) {
        ProgramRun got = program_run(program_path("profile_mlp"), arguments[i / 2], outputs[i % 2]);
        ck_assert_msg((got.status == 0 || got.status == 128 + SIGPIPE) && !got.err[0],
                      "%s%s: exit status %d: %s", arguments[i / 2],
                      i % 2 ? ", SIGPIPE ignored" : "", got.status, got.err);
        program_run_free(&got);
    }
}
END_TEST

START_TEST(json_on_standard_output_stands_there_alone) {
    ProgramRun got = run("--epochs 1 --steps 2 --json -" QUICK);
    ck_assert_int_eq(got.status, 0);
    ck_assert_str_eq(got.err, "");
    json_t *document = document_parse(got.out);
    document_check(document);
    ck_assert_int_eq(document_integer(document, "training.steps"), 2);
    json_decref(document);
    program_run_free(&got);
}
END_TEST

// ---- training --------------------------------------------------------------------------------
START_TEST(steps_end_training_early) {
    json_t *document = document_new("--epochs 1 --steps 20" QUICK);
    ck_assert_int_eq(document_integer(document, "training.steps"), 20);
    ck_assert_int_eq(document_integer(document, "training.epochs"), 1);
    ck_assert(document_real(document, "training.samples_per_second") > 0.0);
    ck_assert(document_real(document, "training.data_wait_seconds") >= 0.0);
    json_decref(document);
}
END_TEST

START_TEST(what_cannot_be_trained_or_shall_not_has_null) {
    static const char *const arguments[] = {"--epochs 0" QUICK, "--device meta",
                                            "--layers 20,10" QUICK, "--layers 784,9" QUICK};
    for (int i = 0; i < 4; i++) {
        json_t *document = document_new(arguments[i]);
        ck_assert_msg(json_is_null(document_at(document, "training")), "%s", arguments[i]);
        json_decref(document);
    }
}
END_TEST

START_TEST(the_seed_decides_the_result) {
    static const char *const seeds[] = {"--seed 7", "--seed 7", "--seed 8"};
    json_t *result[3];
    for (int i = 0; i < 3; i++) {
        char arguments[128];
        snprintf(arguments, sizeof arguments, "--epochs 1 --steps 40 %s" QUICK, seeds[i]);
        json_t *document = document_new(arguments);
        result[i] = json_pack("[f,f]", document_real(document, "training.final_loss"),
                              document_real(document, "training.test_accuracy"));
        json_decref(document);
    }
    ck_assert_msg(json_equal(result[0], result[1]), "the same seed gives another result");
    ck_assert_msg(!json_equal(result[0], result[2]), "another seed gives the same result");
    for (int i = 0; i < 3; i++) json_decref(result[i]);
}
END_TEST

static double accuracy_of(const char *arguments) {
    json_t *document = document_new(arguments);
    double accuracy = document_real(document, "training.test_accuracy");
    json_decref(document);
    return accuracy;
}

START_TEST(the_default_run_learns_its_digits_and_an_untrained_net_guesses) {
    double trained = accuracy_of(QUICK),
           untrained = accuracy_of("--lr 1e-12 --epochs 1 --steps 1" QUICK);
    ck_assert_msg(trained >= 0.95, "%g of the digits after training", trained);
    ck_assert_msg(untrained > 0.02 && untrained < 0.25, "%g of the digits untrained", untrained);
}
END_TEST

START_TEST(ten_epochs_of_mnist_reach_95_percent) {
    const char *folder = getenv("RIDGEPOINT_MNIST");
    char arguments[DATA_PATH];
    if (!folder) folder = "../shared/data/mnist";
    if (access(folder, R_OK) != 0)
        test_skip("no MNIST: set RIDGEPOINT_MNIST to a folder with its test files");
    snprintf(arguments, sizeof arguments, "--epochs 10 --data %s" QUICK, folder);
    double accuracy = accuracy_of(arguments);
    ck_assert_msg(accuracy >= 0.95, "%g of the held-out images", accuracy);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {help_lists_every_option_and_succeeds, 0},
        {version_is_one_line, 0},
        {a_wrong_command_line_is_refused_in_one_line_that_says_what_was_expected, WRONG},
        {an_abbreviation_of_one_option_is_that_option, 0},
        {a_folder_that_cannot_be_used_is_refused_before_anything_is_measured, 0},
        {a_folder_of_images_is_trained_on, 0},
        {json_that_cannot_be_written_is_status_3, 0},
        {a_full_disk_under_standard_output_is_status_3, 0},
        {a_reader_that_has_had_enough_gets_no_complaint, 0},
        {json_on_standard_output_stands_there_alone, 0},
        {steps_end_training_early, 0},
        {what_cannot_be_trained_or_shall_not_has_null, 0},
        {the_seed_decides_the_result, 0},
        {the_default_run_learns_its_digits_and_an_untrained_net_guesses, 0},
        {ten_epochs_of_mnist_reach_95_percent, 0},
        {NULL, 0},
    };
    return harness_main("profile_mlp", tests);
}
