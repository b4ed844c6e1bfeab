// test_profile_diff_program.c -- --save, --compare and --against as a user types them: counts that
// are equal or not, times that surely differ, and unusable bases.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensor/pool.h"
#include "tests/helpers/folder_runs.h"
#include "tests/helpers/harness.h"
#include "tests/helpers/profile_document.h"
#include "tests/helpers/work_folder.h"

static void save(const char *arguments) { free(folder_text("profile_mlp", arguments, 0, NULL)); }

#define SMALL "--layers 20,10 --batch 8 --iterations 10 --epochs 0 "
// Steps long enough that differences between two moments, and the host's part, are small.
#define LARGE "--layers 784,256,10 --batch 32 --iterations 10 --epochs 0 "

// ---- counts ------------------------------------------------------------------------------------
START_TEST(on_the_meta_device_counts_are_compared) {
    work_folder_begin();
    save("--device meta --save %s/base.json --quiet");
    folder_expect("--device meta --compare %s/base.json", 0, "the same counts as ", NULL);
    folder_expect("--device meta --compare %s/base.json", 0,
                  "COUNTS  FLOPs, bytes, parameters, memory, allocations: all as before", NULL);
    folder_expect("--device meta --compare %s/base.json --batch 65 --force", 0,
                  "other counts than ", NULL);
    folder_expect("--device meta --against --layers=784,100,10", 0, "  total_flops ", NULL);
    work_folder_end();
}
END_TEST

START_TEST(the_document_has_every_count) {
    work_folder_begin();
    save("--device meta --save %s/base.json --quiet");
    folder_expect("--device meta --fuse --compare %s/base.json --json %s/diff.json --force", 0,
                  "  activation_bytes ", NULL);
    char path[64];
    snprintf(path, sizeof path, "%s/diff.json", work_folder);
    json_t *document = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
    ck_assert_str_eq(json_string_value(document_at(document, "schema")), "ridgepoint.diff/v1");
    ck_assert(json_is_false(document_at(document, "times_compared")));
    ck_assert(json_is_null(document_at(document, "step.ratio")));
    json_t *counts = document_at(document, "counts"), *one;
    size_t i;
    bool found = false;
    json_array_foreach(counts, i, one) {
        const char *path_of = json_string_value(json_object_get(one, "path"));
        const char *name = json_string_value(json_object_get(one, "name"));
        if (!path_of || strcmp(path_of, "relu1") != 0 || strcmp(name, "total_flops") != 0) continue;
        found = true; // it is missing now
        ck_assert(json_integer_value(json_object_get(one, "before")) > 0);
        ck_assert(json_is_null(json_object_get(one, "after")));
    }
    ck_assert(found);
    json_decref(document);
    work_folder_end();
}
END_TEST

// ---- times -------------------------------------------------------------------------------------
START_TEST(a_saved_profile_is_of_five_runs) {
    test_skip_if_long();
    work_folder_begin();
    save(SMALL "--save %s/base.json --quiet");
    char path[64];
    snprintf(path, sizeof path, "%s/base.json", work_folder);
    json_t *document = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
    ck_assert_int_eq(document_integer(document, "totals.step.latency.across_runs.n"), 5);
    ck_assert_int_eq(document_integer(document, "metronome.product.across_runs.n"), 5);
    ck_assert_int_eq(document_integer(document, "metronome.read.across_runs.n"), 5);
    ck_assert(document_real(document, "metronome.product.median") > 1e-5);
    json_decref(document);
    work_folder_end();
}
END_TEST

// Runs take turns, and the difference is too large for other work on the machine to reverse it.
START_TEST(what_takes_many_times_as_long_is_slower) {
    folder_expect("--layers 1000,1000,10 --batch 8 --iterations 10 --against --layers=20,10", 1,
                  " times as slow (", NULL);
    ProgramRun got = folder_run("profile_mlp", SMALL "--against --layers=1000,1000,10");
    const char *line = strchr(got.out, '\n');
    ck_assert_msg(got.status == 0 && line && strstr(got.out, "% faster (") &&
                      strstr(got.out, "% faster (") < line &&
                      strstr(got.out, " than with --layers=1000,1000,10"),
                  "%d: %s %s", got.status, got.out, got.err);
    bool ten = strstr(got.out, "10 runs, the base 10; 95% sure") != NULL;
    ck_assert_msg(ten || strstr(got.out, "15 runs, the base 15; 95% sure"), "%s", got.out);
    program_run_free(&got);
}
END_TEST

// Changes the base's times to a thousandth, those of its runs included.
static void doctor(const char *path) {
    work_folder_run("sed -E 's/\"(median)\": ([0-9.e-]+)/\"\\1\": 1e-7/' base.json > x\n"
                    "mv x base.json\n");
    json_t *document = json_load_file(path, 0, NULL), *layer;
    json_t *step = document_at(document, "totals.step.latency.across_runs");
    size_t i;
    json_array_foreach(json_object_get(step, "samples"), i, layer)
        json_array_set_new(json_object_get(step, "samples"), i, json_real(1e-7));
    ck_assert_int_eq(json_dump_file(document, path, 0), 0);
    json_decref(document);
}

START_TEST(slower_than_the_base_is_status_1) {
    char path[64];
    work_folder_begin();
    snprintf(path, sizeof path, "%s/base.json", work_folder);
    save(LARGE "--save %s/base.json --quiet");
    doctor(path);
    folder_expect(LARGE "--compare %s/base.json --force", 1, " times as slow (", NULL);
    work_folder_end();
}
END_TEST

START_TEST(a_base_of_one_run_has_counts_only) {
    work_folder_begin();
    save(SMALL "--json %s/base.json --quiet");
    folder_expect(SMALL "--compare %s/base.json", 0, "times are not compared", NULL);
    folder_expect(SMALL "--compare %s/base.json", 0, "say nothing of", NULL);
    save(SMALL "--save %s/five.json --quiet");
    folder_expect(SMALL "--compare %s/five.json --runs 1", 0, "leave out --runs 1.", NULL);
    work_folder_end();
}
END_TEST

// ---- refusals ----------------------------------------------------------------------------------
static const Refusal refused[] = {
    {"--compare %s/none.json", 3, "none.json: No such file or directory. HINT: --save ", NULL},
    {"--compare %s", 3, "Is a directory", NULL},
    {"--compare /dev/null", 3, "not JSON", NULL},
    {"--compare %s/cut.json", 3, "not JSON", NULL},
    {"--compare %s/other.json", 3, "its schema is ridgepoint.memory/v1", NULL},
    {"--device meta --compare %s/base.json --batch 32", 2, "the batch was 64, and is 32. HINT",
     NULL},
    {"--device meta --compare %s/base.json --optimizer sgd", 2, "the optimizer was Adam, and is",
     NULL},
    {"--device meta --compare %s/base.json --layers 784,10", 2, "the model was MLP 784-512-256-10",
     NULL},
    {"--device meta --threads 1 --compare %s/two.json", 2, "the number of threads was", NULL},
    {SMALL "--compare %s/base.json", 2, "the device was meta, and is cpu", NULL},
    {"--compare %s/base.json --against --fuse", 2, "exclude each other", NULL},
    {"--compare %s/base.json --json %s/base.json", 2, "this file is read; name another", NULL},
    {"--save %s/a.json --json %s/b.json", 2, "writes what --json would, of 5 runs", NULL},
    {"--against=", 2, "expected flags, as '--batch 128'", NULL},
    {"--against --bogus", 2, "--bogus: unknown option", NULL},
    {"--against --batch=0", 2, "--batch 0: expected a whole number", NULL},
    {"--against resnet18", 2, "resnet18: unexpected argument", NULL},
    {"--compare %s/base.json --json /none/diff.json", 3, "/none/diff.json", NULL},
    {"--compare", 2, "--compare needs a value", NULL},
    {"--compare=", 2, "expected a file, as --save FILE makes it", NULL},
    {"--compare %s/base.json --runs 501", 2, "--runs 501: a comparison takes at most 333", NULL},
    {"--against-program %s/none", 3, "/none: No such file", NULL},
    {"--against-program /bin/true", 3, "not JSON", NULL},
    {"--against-program x --against --fuse", 2, "exclude each other", NULL},
    {"--against-program x --sweep batch=1", 2, "exclude each other", NULL},
    {"--against=--help", 2, "--help, --version and such changes nothing that is measured", NULL},
    {"--against --json=x", 2, "--json changes nothing that is measured", NULL},
    {"--against --html=x", 2, "--html changes nothing that is measured", NULL},
    {"--against --runs=7", 2, "--runs changes nothing that is measured", NULL},
    {"--against --against=--fuse", 2, "--against changes nothing that is measured", NULL},
    {"--against --threshold=flops:1", 2, "--threshold changes nothing that is measured", NULL},
    {"--compare %s/base.json --threshold p95:1ms", 2, "judges one profile; leave out --compare",
     NULL},
};

START_TEST(what_cannot_be_is_one_line) {
    work_folder_begin();
    save("--device meta --save %s/base.json --quiet");
    save("--device meta --threads 2 --save %s/two.json --quiet");
    save("--device meta --memory-json %s/other.json --quiet");
    work_folder_run("head -c 3000 base.json > cut.json");
    expect_refusals(refused, sizeof refused / sizeof refused[0]);
    work_folder_end();
}
END_TEST

// Nobody writes to the fifo: a signal ends the wait, as ten seconds would.
START_TEST(a_fifo_is_not_waited_for_without_end) {
    work_folder_begin();
    work_folder_run("mkfifo fifo\nprofile_mlp --device meta --compare fifo 2> said & sleep 0.3\n"
                    "kill -TERM $!\nwait $! && exit 1 || [ $? = 143 ]\n[ ! -s said ]\n"
                    "profile_mlp --device meta --save base.json --quiet\n"
                    "cat base.json > fifo & profile_mlp --device meta --compare fifo |\n"
                    "grep -q 'all as before'\n");
    work_folder_end();
}
END_TEST

// ---- networks ----------------------------------------------------------------------------------
// Flags may also follow a network; and a shell may have removed the quotes.
START_TEST(several_flags_may_follow) {
    static const char *const commands[][2] = {
        {"profile_mlp --device meta --against '--batch 2 --fuse'", "with --batch 2 --fuse"},
        {"profile_model lenet5 --device meta --against 'mnist-cnn --batch 2'",
         "mnist-cnn --batch 2"}};
    work_folder_begin();
    for (int i = 0; i < 2; i++) {
        char command[400];
        snprintf(command, sizeof command, "%s > out\ngrep -q '^other counts than %s;' out\n",
                 commands[i][0], commands[i][1]);
        work_folder_run(command);
    }
    work_folder_end();
}
END_TEST

START_TEST(another_network_stands_in_the_place_of_the_one_named) {
    ProgramRun got = folder_run("profile_model", "lenet5 --device meta --against mnist-cnn");
    ck_assert_msg(got.status == 0 && !got.err[0], "%s", got.err);
    ck_assert_ptr_nonnull(strstr(got.out, "other counts than mnist-cnn"));
    program_run_free(&got);
    got = folder_run("profile_model", "lenet5 --device meta --against none-such");
    program_check_refusal(&got, 2, "none-such", "there is no network of this name");
    work_folder_begin(); // the same in a file of options
    work_folder_run("echo 'model = lenet5\njson = /dev/null' > c.cfg\n");
    char arguments[100];
    snprintf(arguments, sizeof arguments, "--config %s/c.cfg --device meta --against mnist-cnn",
             work_folder);
    got = folder_run("profile_model", arguments);
    ck_assert_msg(got.status == 0 && strstr(got.out, "other counts than mnist-cnn"), "%s%s",
                  got.out, got.err);
    program_run_free(&got);
    work_folder_end();
    got = folder_run("profile_model", "lenet5 resnet18 --device meta --against mnist-cnn");
    ck_assert_msg(got.status == 2 && strstr(got.err, "leave out resnet18"), "%s", got.err);
    program_run_free(&got);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {on_the_meta_device_counts_are_compared, 0},
        {the_document_has_every_count, 0},
        {a_saved_profile_is_of_five_runs, 0},
        {what_takes_many_times_as_long_is_slower, 0},
        {slower_than_the_base_is_status_1, 0},
        {a_base_of_one_run_has_counts_only, 0},
        {what_cannot_be_is_one_line, 0},
        {a_fifo_is_not_waited_for_without_end, 0},
        {several_flags_may_follow, 0},
        {another_network_stands_in_the_place_of_the_one_named, 0},
        {NULL, 0},
    };
    return harness_main("profile_diff_program", tests);
}
