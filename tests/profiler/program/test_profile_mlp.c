// test_profile_mlp.c -- ./profile_mlp from outside: its command line, exit status, files and
// streams. test_profile_report.c tests the report, test_profile_training.c training.
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "profiler/program/options_table.h"
#include "tensor/op.h"
#include "tests/helpers/harness.h"
#include "tests/helpers/profile_document.h"
#include "tests/helpers/run_program.h"

#define QUICK " --iterations 3 --warmup 2 --peaks tests/fixtures/peaks.json"
#define SMALL "--layers 20,30,10 --batch 8 --epochs 0" QUICK

static ProgramRun run(const char *arguments) {
    return program_run(program_path("profile_mlp"), arguments, PROGRAM_CAPTURED);
}

// ---- options ---------------------------------------------------------------------------------
START_TEST(help_lists_every_option_and_succeeds) {
    ProgramRun got = run("--help all");
    ck_assert_int_eq(got.status, 0);
    ck_assert_str_eq(got.err, "");
    for (int i = 0; i < options_flag_count; i++) {
        const Flag *flag = &options_flags[i];
        char text[60];
        snprintf(text, sizeof text, "--%s%s%s ", flag->name, flag->argument ? " " : "",
                 flag->argument ? flag->argument : "");
        if (flag->programs & PROGRAM_MLP)
            ck_assert_msg(strstr(got.out, text), "--help all does not mention %s", text);
    }
    ck_assert_ptr_nonnull(strstr(got.out, "Exit status"));
    program_check_columns(got.out);
    program_run_free(&got);
}
END_TEST

START_TEST(no_topic_of_help_is_wider_than_a_terminal) {
    static const char *const topics[] = {"activations", "all",   "counts",    "roofline",
                                         "status",      "peaks", "thresholds"};
    char arguments[40];
    bool mlp = _i < 7; // the only one with activations
    const char *path = program_path(mlp ? "profile_mlp" : "profile_model");
    snprintf(arguments, sizeof arguments, "--help %s", topics[mlp ? _i : _i - 6]);
    ProgramRun got = program_run(path, arguments, PROGRAM_CAPTURED);
    ck_assert(got.status == 0 && got.out[0] != '\0');
    program_check_columns(got.out);
    program_run_free(&got);
}
END_TEST

// The page fits a terminal and begins with commands, and these work.
START_TEST(the_first_page_of_help_begins_with_commands_that_work) {
    static const char *const programs[] = {"profile_mlp", "profile_model"};
    ProgramRun got = program_run(program_path(programs[_i]), "--help", PROGRAM_CAPTURED);
    ck_assert_int_eq(got.status, 0);
    ck_assert_int_le(program_count_lines(got.out), 24);
    char *rest = got.out, begin[40], arguments[160];
    int n = snprintf(begin, sizeof(begin), "./%s ", programs[_i]);
    for (int i = 0; i < 3; i++) {
        char *line = strsep(&rest, "\n");
        ck_assert_msg(strncmp(line, begin, (size_t)n) == 0, "%s", line);
        snprintf(arguments, sizeof(arguments), "%s --device meta --epochs 0", line + n);
        ProgramRun run = program_run(program_path(programs[_i]), arguments, PROGRAM_CAPTURED);
        ck_assert_msg(run.status == 0 && !run.err[0], "%s: %s", arguments, run.err);
        program_run_free(&run);
    }
    program_check_columns(rest);
    program_run_free(&got);
}
END_TEST

// --help as an afterthought, after a command line that is complete.
START_TEST(help_may_stand_behind_a_network) {
    static const char *const lines[][2] = {{"--help", "resnet18 --batch 4 --help"},
                                           {"--help files", "resnet18 --help files"},
                                           {"--help", "x y --generate 2 --epochs 3 --help"}};
    for (int i = 0; i < 3; i++) {
        ProgramRun alone =
            program_run(program_path("profile_model"), lines[i][0], PROGRAM_CAPTURED);
        ProgramRun behind =
            program_run(program_path("profile_model"), lines[i][1], PROGRAM_CAPTURED);
        ck_assert_msg(behind.status == 0 && !behind.err[0], "%s", behind.err);
        ck_assert_str_eq(behind.out, alone.out);
        program_run_free(&alone);
        program_run_free(&behind);
    }
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
static const ProgramRefusal wrong[] = {
    {"--nope", "--nope", "--help all", 2},
    {"-x", "-x", "--help", 2},
    {"stray", "stray", "--help", 2},
    {"--epochs 0 -", "-", "--help", 2},
    {"--la 10,5", "--la", "ambiguous", 2}, // may be --layers or --layer
    {"--fuse --no-fuse", "--fuse", "exclude", 2},
    {"--by nope", "--by nope", "layer, op or phase", 2},
    {"--sort nope", "--sort nope", "order, time", 2},
    {"--top 0", "--top 0", "from 1 to", 2},
    {"--memory-budget lots", "--memory-budget lots", "500MB", 2},
    {"--memory-budget -5MB", "--memory-budget -5MB", "500MB", 2},
    {"--memory-budget 5QB", "--memory-budget 5QB", "500MB", 2},
    {"--memory-budget 99999999TB", "--memory-budget 99999999TB", "500MB", 2},
    {"--flop-convention nope", "--flop-convention nope", "fvcore", 2},
    {"--json - --trace -", "--trace -", "standard output", 2},
    {"--explain=", "--explain", "LAYER", 2},
    {"--layers", "--layers", "needs a value", 2},
    {"--json", "--json", "needs a value", 2},
    {"--data", "--data", "needs a value", 2},
    {"--help=3", "--help 3", "no such topic", 2},
    {"--quiet=1", "--quiet", "no value", 2},
    {"--layers 10,x", "--layers 10,x", "784,512,10", 2},
    {"--layers 10", "--layers 10", "784,10", 2},
    {"--layers 0,5", "--layers 0,5", "at least 1", 2},
    {"--layers 5,-3", "--layers 5,-3", "at least 1", 2},
    {"--layers 10,", "--layers 10,", "784,512,10", 2},
    {"--layers 10;5", "--layers 10;5", "commas", 2},
    {"--layers 10,9999999999", "--layers", "784,512,10", 2},
    {"--layers " SIXTEEN_SIZES SIXTEEN_SIZES SIXTEEN_SIZES SIXTEEN_SIZES "9", "--layers", "64", 2},
    {"--activation foo", "--activation foo", "gelu_tanh", 2},
    {"--batch 0", "--batch 0", "from 1 to", 2},
    {"--batch 1e3", "--batch 1e3", "whole number", 2},
    {"--batch 99999999999999999999", "--batch 9", "whole number", 2},
    {"--optimizer foo", "--optimizer foo", "sgd, momentum, adam, adamw, rmsprop or lion", 2},
    {"--lr -1", "--lr -1", "above 0", 2},
    {"--lr 0", "--lr 0", "above 0", 2},
    {"--lr nan", "--lr nan", "above 0", 2},
    {"--lr 0.1x", "--lr 0.1x", "above 0", 2},
    {"--schedule sine", "--schedule sine", "constant, step or cosine", 2},
    {"--schedule cosine --epochs 0", "--schedule", "add --epochs N", 2},
    {"--schedule cosine --explain", "--schedule", "add --epochs N", 2},
    {"--lr-period 5", "--lr-period", "--schedule cosine or step", 2},
    {"--lr-factor 0.5 --schedule constant", "--lr-factor", "--schedule cosine or step", 2},
    {"--lr-warmup 0", "--lr-warmup 0", "steps, as 200", 2},
    {"--lr-warmup 2epochs", "--lr-warmup 2epochs", "as 2ep", 2},
    {"--lr-period -3", "--lr-period -3", "steps, as 200", 2},
    {"--lr-period 99999999999", "--lr-period 9", "steps, as 200", 2},
    {"--lr-factor 1.5", "--lr-factor 1.5", "from 0 to 1", 2},
    {"--lr-factor nan", "--lr-factor nan", "from 0 to 1", 2},
    {"--epochs -1", "--epochs -1", "from 0 to", 2},
    {"--epochs 1000000", "--epochs 1000000", "from 0 to 999999", 2},
    {"--json --quiet", "--json needs a value", "--json F", 2},
    {"--layers 20,30,10 --checkpoint x.st", "--checkpoint: MLP 20-30-10", "--data", 2},
    {"--steps 1.5", "--steps 1.5", "whole number", 2},
    {"--seed x", "--seed x", "whole number", 2},
    {"--threads 0", "--threads 0", "from 1 to 64", 2},
    {"--threads 65", "--threads 65", "from 1 to 64", 2},
    {"--device nope", "--device nope", "cpu, cuda or meta", 2},
    {"--iterations -1", "--iterations -1", "from 0 to", 2},
    {"--warmup x", "--warmup x", "whole number", 2},
    {"--epochs 0 --resume x", "--resume", "--epochs", 2},
    {"--steps 3 --by op", "--steps", "add --epochs N", 2},
    {"--steps 3 --epochs 0", "--steps", "add --epochs N", 2},
    {"--layers 20,30,10 --epochs 2", "--epochs: MLP 20-30-10", "--data", 2},
    {"--layers 20,30,10 --steps 2", "--steps: MLP 20-30-10", "--data", 2},
    {"--layers 20,10 --activation gelu", "--activation gelu", "--layers 20,512,10", 2},
    {"--peaks tests/fixtures/peaks.json --json tests/fixtures/../fixtures/peaks.json",
     "--json tests/fixtures/../fixtures/peaks.json", "is read", 2},
    {"--json /dev/null --trace /dev/null", "--trace /dev/null", "--json writes", 2},
};

START_TEST(a_wrong_command_line_is_refused_in_one_line_that_says_what_was_expected) {
    program_refuses("profile_mlp", &wrong[_i]);
}
END_TEST

START_TEST(an_abbreviation_of_one_option_is_that_option) {
    json_t *document = document_new("--device meta --ep 0 --layers 6,4 --bat 3");
    ck_assert_int_eq(document_integer(document, "model.batch"), 3);
    ck_assert_int_eq(document_integer(document, "model.parameters"), 28);
    json_decref(document);
}
END_TEST

START_TEST(help_explains_a_topic_or_names_those_there_are) {
    ProgramRun got = run("--help counts");
    ck_assert_msg(got.status == 0 && strstr(got.out, "\nsaved_bytes ") && !got.err[0], "%s",
                  got.out);
    program_run_free(&got);
    got = run("--help activations");
    for (int i = 0; op_activation_at(i); i++) {
        char line[160];
        snprintf(line, sizeof(line), "\n  %-12s %s\n", op_activation_at(i)->name,
                 op_activation_at(i)->story->formula);
        ck_assert_msg(got.status == 0 && strstr(got.out, line), "%s", got.out);
    }
    program_run_free(&got);
    got = run("--activation silly");
    program_check_refusal(&got, 2, "--activation silly: expected none, relu, leaky_relu", "silu");
    got = run("--help nope");
    ck_assert_str_eq(got.out, "");
    program_check_refusal(&got, 2, "--help nope", "counts");
}
END_TEST

START_TEST(counts_that_do_not_fit_64_bits_are_refused) {
    ProgramRun got = run("--device meta --layers 4194304,1048576 --batch 16777216");
    ck_assert_msg(!got.out[0], "standard output: %s", got.out);
    program_check_refusal(&got, 2, "", "");
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
        program_check_refusal(&got, 3, places[i], "HINT");
    }
}
END_TEST

START_TEST(a_full_disk_under_standard_output_is_status_3) {
    static const char *const arguments[] = {SMALL, SMALL " --json -", SMALL " --json /dev/null",
                                            "--help"};
    for (int i = 0; i < 4; i++) {
        ProgramRun got = program_run(program_path("profile_mlp"), arguments[i], PROGRAM_FULL_DISK);
        program_check_refusal(&got, 3, "standard output", "No space left");
    }
}
END_TEST

// As with `| head -1`: the shell shows nothing when SIGPIPE ends a program, so the program must
// print nothing, either.
START_TEST(a_reader_that_has_had_enough_gets_no_complaint) {
    static const char *const arguments[] = {SMALL, SMALL " --json -", SMALL " --json /dev/null",
                                            ("--epochs 1 --steps 2" QUICK), "--help"};
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

int main(void) {
    const HarnessTest tests[] = {
        {help_lists_every_option_and_succeeds, 0},
        {no_topic_of_help_is_wider_than_a_terminal, 13},
        {the_first_page_of_help_begins_with_commands_that_work, 2},
        {help_may_stand_behind_a_network, 0},
        {version_is_one_line, 0},
        {a_wrong_command_line_is_refused_in_one_line_that_says_what_was_expected,
         sizeof wrong / sizeof wrong[0]},
        {an_abbreviation_of_one_option_is_that_option, 0},
        {help_explains_a_topic_or_names_those_there_are, 0},
        {counts_that_do_not_fit_64_bits_are_refused, 0},
        {json_that_cannot_be_written_is_status_3, 0},
        {a_full_disk_under_standard_output_is_status_3, 0},
        {a_reader_that_has_had_enough_gets_no_complaint, 0},
        {json_on_standard_output_stands_there_alone, 0},
        {NULL, 0},
    };
    return harness_main("profile_mlp", tests);
}
