// test_profile_answers.c -- ./profile_mlp from outside: the questions that it answers instead of
// the report, and the files beside the JSON. The answers' contents are tested with their modules.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/helpers/harness.h"
#include "tests/helpers/profile_document.h"
#include "tests/helpers/run_program.h"
#include "tests/helpers/work_folder.h"

#define QUICK " --iterations 3 --warmup 2 --peaks tests/fixtures/peaks.json"
#define SMALL "--layers 20,30,10 --batch 8" QUICK

static ProgramRun run(const char *arguments) {
    return program_run(program_path("profile_mlp"), arguments, PROGRAM_CAPTURED);
}

// ---- questions -------------------------------------------------------------------------------
static const struct {
    const char *arguments, *head, *also; // the output begins with head and contains also
} questions[] = {
    {SMALL " --explain", "MLP 20-30-10 relu, training step of 8 samples, Adam, explained\n",
     "\nfc2, Linear, (8, 30) -> (8, 10)"},
    {SMALL " --explain fc1", "MLP 20-30-10", "8 x 20 x 30 = 4,800 multiply-adds"},
    {SMALL " --explain=fc*", "MLP 20-30-10", "fc2, Linear"},
    {SMALL " --brief", "MLP 20-30-10 relu | batch 8", "FLOP a step"},
    {"--device meta --brief", "MLP 784-512-256-10",
     "  Peak 9.17 MB, 200 kB of it kept for backward;"},
    {"--device meta --brief", "MLP 784-512-256-10", "  161 MFLOP a step, 96% of it in matrix"},
    {SMALL " --by op", "BY OP", "\nstep"},
    {SMALL " --by layer --sort flops --top 2", "BY LAYER", "\nothers"},
    {SMALL " --by phase", "BY PHASE", "optimizer"},
    {SMALL " --sort time", "BY LAYER", "most time first"},
    {SMALL " --layer fc*", "BY LAYER", "fc1"},
    {SMALL " --flop-convention torch", "FLOP CONVENTION torch", "total"},
    {SMALL " --flop-convention fvcore", "FLOP CONVENTION fvcore", "total"},
    {SMALL " --memory", "MEMORY  one step", "AT THE PEAK"},
    {SMALL " --memory-budget 50kB", "MEMORY BUDGET  50,000 B", "as predicted"},
    {SMALL " --memory-budget 50kB", "MEMORY BUDGET  50,000 B", "of it are no tensors'"},
    {SMALL " --leaks", "LEAKS", "memory does not grow"},
    {SMALL " --weights", "WEIGHTS", "fc1.weight"},
    {"--device meta --layers 20,30,10 --explain", "MLP 20-30-10", "fc1"},
    {"--device meta --layers 20,30,10 --by op", "BY OP", "fc1 linear"},
    {"--device meta --layers 20,30,10 --memory", "MEMORY", "AT THE PEAK"},
    {"--device meta --layers 20,30,10 --memory-budget 1GB", "MEMORY BUDGET", "meta device"},
    {SMALL " --memory --leaks", "MEMORY  one step", "\n\nLEAKS"},
};
enum { QUESTIONS = sizeof questions / sizeof questions[0] };

START_TEST(a_question_is_answered_alone_in_80_plain_columns) {
    ProgramRun got = run(questions[_i].arguments);
    ck_assert_msg(got.status == 0 && !got.err[0], "%s: exit status %d: %s", questions[_i].arguments,
                  got.status, got.err);
    ck_assert_msg(strncmp(got.out, questions[_i].head, strlen(questions[_i].head)) == 0 &&
                      strstr(got.out, questions[_i].also),
                  "%s prints\n%s", questions[_i].arguments, got.out);
    ck_assert_msg(!strstr(got.out, "TRAINING"), "it trained");
    char *rest = got.out;
    for (char *line; (line = strsep(&rest, "\n"));) {
        size_t length = strlen(line);
        ck_assert_msg(length <= 80 && (length == 0 || line[length - 1] != ' '), "%s: %s",
                      questions[_i].arguments, line);
        for (size_t k = 0; k < length; k++) ck_assert(line[k] >= ' ' && line[k] <= '~');
    }
    program_run_free(&got);
}
END_TEST

// The machine is not measured either: without a cache the program would say so.
START_TEST(for_weights_alone_nothing_runs) {
    program_names();
    ProgramRun got = program_run("/usr/bin/env",
                                 "XDG_CACHE_HOME=/dev/null profile_mlp --layers 20,30,10 --weights",
                                 PROGRAM_CAPTURED);
    ck_assert_msg(got.status == 0 && !got.err[0] && strncmp(got.out, "WEIGHTS\n", 8) == 0, "%s%s",
                  got.err, got.out);
    program_run_free(&got);
}
END_TEST

START_TEST(a_question_about_a_layer_that_is_not_there_names_those_that_are) {
    ProgramRun got = run(SMALL " --explain nope");
    program_check_refusal(&got, 2, "nope", "fc1");
    got = run(SMALL " --layer nope");
    program_check_refusal(&got, 2, "nope", "fc1");
    got = run("--device meta --layers 20,30,10 --weights");
    program_check_refusal(&got, 2, "weights", "meta");
    got = run("--device meta --layers 20,30,10 --trace /tmp/never");
    program_check_refusal(&got, 2, "--trace", "--device cpu");
    got = run(SMALL " --json - --memory");
    program_check_refusal(&got, 2, "--json -", "name a file");
}
END_TEST

START_TEST(the_largest_batch_of_the_budget_is_measured) {
    ProgramRun got = run("--layers 20,30,10 --memory-budget 1MB" QUICK);
    char batch[32];
    ck_assert_int_eq(sscanf(strstr(got.out, "largest batch"), "largest batch %31s", batch), 1);
    ck_assert_msg(strstr(got.out, ": as predicted\n") != NULL, "%s", got.out);
    program_run_free(&got);
    got = run(SMALL " --memory-budget 1"); // a question that fails
    ck_assert_msg(got.status == 1 && strstr(got.out, "not even one sample fits"), "%s", got.out);
    program_run_free(&got);
}
END_TEST

// ---- files -----------------------------------------------------------------------------------
static const char *const files[] = {"trace", "memory-json", "tinytorch"};
enum { FILES = sizeof files / sizeof files[0] };
static const char *const first_keys[FILES] = {"traceEvents", "schema", "schema"};

static json_t *read_file(const char *path) {
    json_error_t error;
    json_t *document = json_load_file(path, 0, &error);
    ck_assert_msg(document != NULL, "%s: %s", path, error.text);
    return document;
}

START_TEST(each_file_is_json_and_the_report_is_still_printed) {
    char path[] = "/tmp/test_answers_XXXXXX", arguments[256];
    int file = mkstemp(path);
    ck_assert_int_ge(file, 0);
    close(file);
    snprintf(arguments, sizeof arguments, SMALL " --epochs 0 --%s %s", files[_i], path);
    ProgramRun got = run(arguments);
    ck_assert_msg(got.status == 0 && !got.err[0], "%s", got.err);
    ck_assert(strstr(got.out, "ROOFLINE") != NULL);
    json_t *document = read_file(path);
    ck_assert_msg(json_object_get(document, first_keys[_i]) != NULL, "%s", files[_i]);
    json_decref(document);
    unlink(path);
    program_run_free(&got);
}
END_TEST

START_TEST(on_standard_output_a_file_stands_alone) {
    char arguments[256];
    snprintf(arguments, sizeof arguments, SMALL " --epochs 0 --%s -", files[_i]);
    ProgramRun got = run(arguments);
    ck_assert_msg(got.status == 0 && !got.err[0], "%s", got.err);
    json_t *document = document_parse(got.out);
    ck_assert(json_object_get(document, first_keys[_i]) != NULL);
    json_decref(document);
    program_run_free(&got);
}
END_TEST

START_TEST(what_cannot_be_written_is_told_and_leaves_nothing) {
    static const char *const places[] = {"/nonexistent/p.json", "/dev/full"};
    char arguments[256];
    for (int i = 0; i < 2; i++) {
        snprintf(arguments, sizeof arguments, SMALL " --quiet --%s %s", files[_i], places[i]);
        ProgramRun got = run(arguments);
        program_check_refusal(&got, 3, places[i], "HINT");
    }
}
END_TEST

// Ten steps, each with data, layers, backward and optimizer; with training the loader's data.
START_TEST(a_trace_holds_ten_training_steps) {
    ProgramRun got = run("--layers 784,16,10 --epochs 1 --steps 1 --trace -" QUICK);
    ck_assert_msg(got.status == 0, "%s", got.err);
    json_t *document = document_parse(got.out), *event;
    static const char *const names[] = {"data loading", "backward", "optimizer",
                                        "fc1",          "linear",   "adamw_step"};
    int counts[6] = {0}, steps = 0;
    size_t at;
    json_array_foreach(json_object_get(document, "traceEvents"), at, event) {
        const char *name = json_string_value(json_object_get(event, "name"));
        const char *kind = json_string_value(json_object_get(event, "ph"));
        if (strcmp(kind, "X") != 0) continue;
        steps += strncmp(name, "ProfilerStep#", 13) == 0;
        for (int i = 0; i < 6; i++) counts[i] += strcmp(name, names[i]) == 0;
    }
    ck_assert_int_eq(steps, 10);
    for (int i = 0; i < 6; i++) // two linear layers
        ck_assert_msg(counts[i] == (i == 4 ? 20 : 10), "%s: %d times", names[i], counts[i]);
    json_decref(document);
    program_run_free(&got);
}
END_TEST

// ---- settings of the questions ------------------------------------------------------------------
START_TEST(fused_layers_do_the_same_work_in_fewer_ops) {
    json_t *apart = document_new(SMALL " --no-fuse --epochs 0");
    json_t *fused = document_new(SMALL " --fuse --epochs 0");
    ck_assert_int_eq(document_integer(apart, "totals.forward.total_flops"),
                     document_integer(fused, "totals.forward.total_flops"));
    ck_assert_int_lt((int)json_array_size(json_object_get(fused, "ops")),
                     (int)json_array_size(json_object_get(apart, "ops")));
    json_decref(apart);
    json_decref(fused);
}
END_TEST

START_TEST(percentiles_go_on_until_there_are_enough) {
    json_t *document = document_new("--layers 2,2 --batch 1 --epochs 0 --percentiles" QUICK);
    ck_assert_int_eq(document_integer(document, "totals.step.latency.n"), 4603);
    json_t *percentiles = document_at(document, "totals.step.latency.percentiles");
    ck_assert(json_object_get(percentiles, "p99.9") != NULL);
    json_decref(document);
    document = document_new("--layers 2,2 --batch 1 --epochs 0 --iterations 44 --warmup 2");
    json_t *missing = document_at(document, "totals.step.latency.percentiles_missing_samples");
    ck_assert_int_eq(json_integer_value(json_object_get(missing, "p95")), 46);
    ck_assert_int_eq(json_integer_value(json_object_get(missing, "p99")), 415);
    json_decref(document);
}
END_TEST

// Traced steps move the weights, observed ones the running statistics.
START_TEST(the_output_is_of_the_weights_that_there_were_or_of_trained_ones) {
    work_folder_begin();
    work_folder_run(
        "run='profile_model mnist-cnn --batch 4 --iterations 1 --warmup 2 --quiet --output'\n"
        "$run plain --inference; $run traced --trace t; $run watched --leaks >told\n"
        "$run trained --epochs 1 --steps 2\n"
        "cmp plain traced; cmp plain watched; not cmp -s plain trained\n");
    work_folder_end();
}
END_TEST

START_TEST(what_a_file_of_peaks_does_not_say_is_null) {
    char arguments[300];
    work_folder_begin();
    work_folder_run("echo '{\"peak_flops_per_second\": 1e11, \"levels\": [{\"name\": \"DRAM\", "
                    "\"bytes_per_second\": 1e10}]}' >peaks");
    snprintf(arguments, sizeof arguments,
             "--layers 20,30,10 --batch 8 --iterations 3 --warmup 2 --peaks %s/peaks", work_folder);
    json_t *document = document_new(arguments);
    ck_assert(json_is_null(document_at(document, "machine.dispatch_seconds")));
    ck_assert(document_real(document, "model.flops_per_parameter") > 1.9);
    json_decref(document);
    work_folder_end();
}
END_TEST

START_TEST(strict_accepts_a_model_whose_ops_all_have_a_cost) {
    ProgramRun got = run(SMALL " --strict --epochs 0");
    ck_assert_msg(got.status == 0 && !got.err[0], "%s", got.err);
    program_run_free(&got);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {a_question_is_answered_alone_in_80_plain_columns, QUESTIONS},
        {for_weights_alone_nothing_runs, 0},
        {a_question_about_a_layer_that_is_not_there_names_those_that_are, 0},
        {the_largest_batch_of_the_budget_is_measured, 0},
        {each_file_is_json_and_the_report_is_still_printed, FILES},
        {on_standard_output_a_file_stands_alone, FILES},
        {what_cannot_be_written_is_told_and_leaves_nothing, FILES},
        {a_trace_holds_ten_training_steps, 0},
        {fused_layers_do_the_same_work_in_fewer_ops, 0},
        {percentiles_go_on_until_there_are_enough, 0},
        {the_output_is_of_the_weights_that_there_were_or_of_trained_ones, 0},
        {what_a_file_of_peaks_does_not_say_is_null, 0},
        {strict_accepts_a_model_whose_ops_all_have_a_cost, 0},
        {NULL, 0},
    };
    return harness_main("profile_answers", tests);
}
