// test_profile_diff_program.c -- --save, --compare and --against as one types them: counts that are
// as before or are not, times that differ beyond doubt, and bases that cannot be used.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/helpers/harness.h"
#include "tests/helpers/profile_document.h"
#include "tests/helpers/run_program.h"
#include "tests/helpers/work_folder.h"

static ProgramRun run_of(const char *program, const char *arguments) {
    return program_run(program_path(program), arguments, PROGRAM_CAPTURED);
}

// In its folder: "%s" of the arguments is that.
static ProgramRun run(const char *arguments) {
    char all[600];
    snprintf(all, sizeof all, arguments, work_folder, work_folder);
    return run_of("profile_mlp", all);
}

static void save(const char *arguments) {
    ProgramRun got = run(arguments);
    ck_assert_msg(got.status == 0 && !got.err[0], "%d: %s", got.status, got.err);
    program_run_free(&got);
}

static void expect_run(const char *arguments, int status, const char *out, const char *err) {
    ProgramRun got = run(arguments);
    ck_assert_msg(got.status == status, "%s: %d, \"%s\" \"%s\"", arguments, got.status, got.out,
                  got.err);
    if (status <= 1) program_check_columns(got.out);
    ck_assert_msg(!out || strstr(got.out, out), "%s: no %s in \"%s\"", arguments, out, got.out);
    ck_assert_msg(err ? strstr(got.err, err) != NULL : !got.err[0], "%s: \"%s\"", arguments,
                  got.err);
    const char *line_end = strchr(got.err, '\n');
    ck_assert_msg(!err || (line_end && !line_end[1]), "%s: \"%s\" is no line", arguments, got.err);
    program_run_free(&got);
}

#define SMALL "--layers 20,10 --batch 8 --iterations 10 --epochs 0 "

// ---- counts ------------------------------------------------------------------------------------
START_TEST(on_the_meta_device_counts_are_compared) {
    work_folder_begin();
    save("--device meta --save %s/base.json --quiet");
    expect_run("--device meta --compare %s/base.json", 0, "the same counts as ", NULL);
    expect_run("--device meta --compare %s/base.json", 0,
               "COUNTS  FLOPs, bytes, parameters, memory, allocations: all as before", NULL);
    expect_run("--device meta --compare %s/base.json --batch 65 --force", 0, "other counts than ",
               NULL);
    expect_run("--device meta --against --layers=784,100,10", 0, "  total_flops ", NULL);
    work_folder_end();
}
END_TEST

START_TEST(the_document_has_every_count) {
    work_folder_begin();
    save("--device meta --save %s/base.json --quiet");
    expect_run("--device meta --fuse --compare %s/base.json --json %s/diff.json --force", 0,
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
        found = true; // it is gone
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
    work_folder_begin();
    save(SMALL "--save %s/base.json --quiet");
    char path[64];
    snprintf(path, sizeof path, "%s/base.json", work_folder);
    json_t *document = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
    ck_assert_int_eq(document_integer(document, "totals.step.latency.across_runs.n"), 5);
    ck_assert(document_real(document, "environment.pace_flops_per_second") > 1e6);
    ck_assert(document_real(document, "environment.pace_bytes_per_second") > 1e6);
    json_decref(document);
    work_folder_end();
}
END_TEST

// In turns, and by so much that no other work on the machine turns it over.
START_TEST(what_takes_many_times_as_long_is_slower) {
    expect_run("--layers 2000,2000,10 --batch 8 --iterations 10 --against --layers=20,10", 1,
               " times as slow (", NULL);
    ProgramRun got = run(SMALL "--against --layers=2000,2000,10");
    const char *line = strchr(got.out, '\n');
    ck_assert_msg(got.status == 0 && line && strstr(got.out, "% faster (") &&
                      strstr(got.out, "% faster (") < line &&
                      strstr(got.out, " than with --layers=2000,2000,10"),
                  "%d: %s %s", got.status, got.out, got.err);
    ck_assert_ptr_nonnull(strstr(got.out, "each change seen in two sets of runs"));
    ck_assert_ptr_nonnull(strstr(got.out, "10 runs, the base 10; 95% sure"));
    program_run_free(&got);
}
END_TEST

// The base says that all took a thousandth: its times, and the runs' that they are of.
static void doctor(const char *path) {
    char command[400];
    snprintf(command, sizeof command,
             "sed -E 's/\"(median)\": ([0-9.e-]+)/\"\\1\": 1e-7/' '%s' > '%s.x'\n"
             "mv '%s.x' '%s'\n",
             path, path, path, path);
    work_folder_run(command);
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
    save(SMALL "--save %s/base.json --quiet");
    doctor(path);
    expect_run(SMALL "--compare %s/base.json --force", 1, " times as slow (", NULL);
    work_folder_end();
}
END_TEST

START_TEST(a_base_of_one_run_has_counts_only) {
    work_folder_begin();
    save(SMALL "--json %s/base.json --quiet");
    expect_run(SMALL "--compare %s/base.json", 0, "times are not compared", NULL);
    expect_run(SMALL "--compare %s/base.json", 0, "say nothing of", NULL);
    save(SMALL "--save %s/five.json --quiet");
    expect_run(SMALL "--compare %s/five.json --runs 1", 0, "leave out --runs 1.", NULL);
    work_folder_end();
}
END_TEST

// ---- limits ------------------------------------------------------------------------------------
START_TEST(limits_of_counts) {
    expect_run("--device meta --threshold flops:162M,peak_memory:10MB", 0, "THRESHOLDS", NULL);
    expect_run("--device meta --threshold flops:161M --threshold macs:1T", 1, "  flops:161M BROKEN",
               NULL);
    expect_run("--device meta --quiet --threshold macs:1T,flops:161M,bytes:1B", 1, NULL,
               "--threshold flops:161M: broken: 161,242,616");
    work_folder_begin();
    save("--device meta --save %s/base.json --quiet");
    expect_run("--device meta --compare %s/base.json --threshold flops:+0%%,peak_memory:+0%%", 0,
               "  flops:+0%       holds", NULL);
    expect_run("--device meta --batch 65 --force --compare %s/base.json --threshold flops:+0%%", 1,
               "  flops:+0% BROKEN", NULL);
    work_folder_end();
}
END_TEST

START_TEST(limits_of_times_are_of_five_runs) {
    expect_run(SMALL "--threshold latency:10s,layer:*:10s", 0, ", 5 runs)", NULL);
    expect_run(SMALL "--threshold latency:1ns", 1, "  latency:1ns BROKEN", NULL);
    expect_run(SMALL "--against --fuse --threshold latency:+5000%%", 0, "  latency:+5000% holds",
               NULL);
}
END_TEST

START_TEST(a_ci_reads_which_hold) {
    char path[64];
    work_folder_begin();
    expect_run("--device meta --threshold flops:161M,peak_memory:10MB --junit %s/j.xml", 1, NULL,
               NULL);
    snprintf(path, sizeof path, "%s/j.xml", work_folder);
    FILE *file = fopen(path, "r");
    char text[2000] = "";
    ck_assert_ptr_nonnull(file);
    ck_assert(fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    ck_assert_str_eq(text,
                     "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                     "<testsuites name=\"profile_mlp\" tests=\"2\" failures=\"1\" "
                     "errors=\"0\" skipped=\"0\" time=\"0.000\">\n"
                     "  <testsuite name=\"thresholds\" tests=\"2\" failures=\"1\" "
                     "errors=\"0\" skipped=\"0\" time=\"0\">\n"
                     "    <testcase classname=\"thresholds\" name=\"flops:161M\" time=\"0\">\n"
                     "      <failure type=\"broken\" message=\"161,242,616\"></failure>\n"
                     "    </testcase>\n"
                     "    <testcase classname=\"thresholds\" name=\"peak_memory:10MB\" "
                     "time=\"0\"/>\n"
                     "  </testsuite>\n"
                     "</testsuites>\n");
    work_folder_end();
}
END_TEST

// Who asks a CI's question gets an answer: nothing that could be judged is no pass, and no old file
// is left.
START_TEST(what_is_not_judged_is_no_pass) {
    work_folder_begin();
    work_folder_run("echo old > j.xml\n");
    save(SMALL "--save %s/base.json --quiet");
    expect_run(SMALL "--compare %s/base.json --runs 1 --junit %s/j.xml --quiet", 1, NULL,
               "--threshold latency:+5%: unknown: times were not compared");
    work_folder_run("grep -q '<error type=\"unknown\"' j.xml\n");
    expect_run(SMALL "--runs 2 --against --fuse --threshold latency:+900%%", 1,
               "of so few runs nothing is sure", NULL);
    work_folder_end();
}
END_TEST

// ---- README's job for a CI
// ----------------------------------------------------------------------- From `begin` to `end`, on
// one line.
static void command_of(const char *begin, const char *end, char *command, size_t size) {
    static char readme[1 << 16];
    FILE *file = fopen("README.md", "r");
    ck_assert_msg(file != NULL, "README.md: run the tests from the root");
    readme[fread(readme, 1, sizeof readme - 1, file)] = '\0';
    fclose(file);
    char *from = strstr(readme, "# .github/workflows/profile.yml");
    if (from) from = strstr(from, begin);
    char *to = from ? strstr(from, end) : NULL;
    ck_assert_msg(to && (size_t)(to - from) < size, "README.md: no %s in its job", begin);
    snprintf(command, size, "%.*s", (int)(to - from), from);
    for (char *c = command; (c = strchr(c, '\n'));) *c = ' ';
}

START_TEST(the_job_that_readme_shows_does_what_it_says) {
    char command[400], script[1600];
    command_of("./profile_mlp --against-program", "\n      - ", command, sizeof command);
    work_folder_begin();
    snprintf(script, sizeof script,
             "program='%s'\ncp \"$program\" profile_mlp\ncp \"$program\" before\n"
             "%s " SMALL "> said 2>&1 || test $? = 1\n" // 1: beside other work
             "grep -q ' than ./before' said\n"
             "grep -q '^  latency:+5%%  ' said\n"
             "grep -q '^  layer:\\*:+5%%  ' said\n"
             "grep -q 'name=\"flops:+0%%\" time=\"0\"/>' profile.xml\n",
             program_path("profile_mlp"), command);
    work_folder_run(script);
    work_folder_end();
}
END_TEST

// ---- what cannot be ----------------------------------------------------------------------------
static const struct {
    const char *arguments;
    int status;
    const char *says;
} refused[] = {
    {"--compare %s/none.json", 3, "none.json: No such file or directory. HINT: --save "},
    {"--compare %s", 3, "Is a directory"},
    {"--compare /dev/null", 3, "not JSON"},
    {"--compare %s/cut.json", 3, "not JSON"},
    {"--compare %s/other.json", 3, "its schema is ridgepoint.memory/v1"},
    {"--device meta --compare %s/base.json --batch 32", 2, "the batch was 64, and is 32. HINT"},
    {"--device meta --compare %s/base.json --optimizer sgd", 2, "the optimizer was Adam, and is"},
    {"--device meta --compare %s/base.json --layers 784,10", 2, "the model was MLP 784-512-256-10"},
    {"--device meta --threads 1 --compare %s/two.json", 2, "the number of threads was"},
    {SMALL "--compare %s/base.json", 2, "the device was meta, and is cpu"},
    {"--compare %s/base.json --against --fuse", 2, "exclude each other"},
    {"--compare %s/base.json --explain", 2, "--explain: no part of a comparison"},
    {"--compare %s/base.json --epochs 2", 2, "--epochs, --steps: no part of a comparison"},
    {"--compare %s/base.json --save %s/new.json", 2, "--save: no part of a comparison"},
    {"--compare %s/base.json --json %s/base.json", 2, "this file is read; name another"},
    {"--save %s/a.json --json %s/b.json", 2, "it is what --json writes, of 5 runs"},
    {"--force", 2, "--force: of what? --compare FILE"},
    {"--against=", 2, "expected flags, as '--batch 128'"},
    {"--against --bogus", 2, "--bogus: unknown option"},
    {"--against --batch=0", 2, "--batch 0: expected a whole number"},
    {"--against resnet18", 2, "resnet18: unexpected argument"},
    {"--compare %s/base.json --json /none/diff.json", 3, "/none/diff.json"},
    {"--compare", 2, "--compare needs a value"},
    {"--compare -", 2, "expected a file, as --save FILE makes it"},
    {"--compare=", 2, "expected a file, as --save FILE makes it"},
    {"--compare %s/base.json --junit /none/j.xml", 3, "/none/j.xml"},
    {"--compare %s/base.json --runs 501", 2, "--runs 501: of a comparison at most 500"},
    {"--compare %s/base.json --strict", 2, "--strict: no part of a comparison"},
    {"--against-program %s/none", 3, "/none: No such file"},
    {"--against-program /bin/true", 3, "not JSON"},
    {"--against-program x --against --fuse", 2, "exclude each other"},
    {"--against-program x --sweep batch=1", 2, "exclude each other"},
    {"--against --help", 2, "--help, --version and such changes nothing that is measured"},
    {"--against --json=x", 2, "--json changes nothing that is measured"},
    {"--against --html=x", 2, "--html changes nothing that is measured"},
    {"--against --runs=7", 2, "--runs changes nothing that is measured"},
    {"--against --against=--fuse", 2, "--against changes nothing that is measured"},
    {"--against --threshold=flops:1", 2, "--threshold changes nothing that is measured"},
    {"--threshold latenzy:1ms", 2, "--threshold latenzy:1ms: unknown key"},
    {"--threshold latency:1MB", 2, "expected a time"},
    {"--threshold latency:+5%%", 2, "beside what? --compare FILE"},
    {"--device meta --threshold latency:1ms", 2, "nothing takes time on the meta device"},
    {"--compare %s/base.json --threshold p95:1ms", 2, "of one profile alone; leave out --compare"},
    {"--junit %s/j.xml", 2, "of what? --threshold LIMITS"},
    {"--threshold flops:1 --junit /none/j.xml", 3, "/none/j.xml"},
};
enum { REFUSED = sizeof refused / sizeof refused[0] };

START_TEST(what_cannot_be_is_one_line) {
    work_folder_begin();
    save("--device meta --save %s/base.json --quiet");
    save("--device meta --threads 2 --save %s/two.json --quiet");
    save("--device meta --memory-json %s/other.json --quiet");
    char command[200];
    snprintf(command, sizeof command, "head -c 3000 %s/base.json > %s/cut.json", work_folder,
             work_folder);
    work_folder_run(command);
    expect_run(refused[_i].arguments, refused[_i].status, NULL, refused[_i].says);
    work_folder_end();
}
END_TEST

// What moves a cursor, or is no character, is not passed on.
START_TEST(names_are_told_in_one_line) {
    work_folder_begin();
    char script[900];
    snprintf(script, sizeof script,
             "not '%s' --device meta --threshold \"$(printf 'lat\\033ency\\n:1s')\" 2> said\n"
             "[ $(wc -l < said) = 1 ]\nnot grep -q \"$(printf '\\033')\" said\n"
             "not '%s' " SMALL "--quiet --threshold \"$(printf 'layer:f\\nc:1s')\" 2> said\n"
             "[ $(wc -l < said) = 1 ]\n"
             "not '%s' " SMALL
             "--threshold \"$(printf 'layer:\\357\\277\\277*:1s')\" --junit j.xml > said\n"
             "grep -q 'name=\"layer:???\\*:1s\"' j.xml\n",
             program_path("profile_mlp"), program_path("profile_mlp"), program_path("profile_mlp"));
    work_folder_run(script);
    work_folder_end();
}
END_TEST

// Nobody writes it: a signal ends the waiting, as ten seconds would.
START_TEST(a_fifo_is_not_waited_for_without_end) {
    work_folder_begin();
    char script[600];
    snprintf(script, sizeof script,
             "mkfifo fifo\n'%s' --device meta --compare fifo 2> said & sleep 0.3\nkill -TERM $!\n"
             "wait $! && exit 1 || [ $? = 143 ]\ngrep -q 'fifo: Interrupted' said\n"
             "'%s' --device meta --save base.json --quiet\n"
             "cat base.json > fifo & '%s' --device meta --compare fifo | grep -q 'all as before'\n",
             program_path("profile_mlp"), program_path("profile_mlp"), program_path("profile_mlp"));
    work_folder_run(script);
    work_folder_end();
}
END_TEST

START_TEST(a_disk_that_is_full_is_told) {
    ProgramRun got = program_run(program_path("profile_mlp"), "--device meta --threshold flops:1",
                                 PROGRAM_FULL_DISK);
    program_check_refusal(&got, 3, "standard output", "");
}
END_TEST

// ---- networks ----------------------------------------------------------------------------------
// Behind a network, too; where a shell has taken the quotes away.
START_TEST(several_flags_may_follow) {
    static const char *const commands[][3] = {
        {"profile_mlp", "--device meta --against '--batch 2 --fuse'", "with --batch 2 --fuse"},
        {"profile_model", "lenet5 --device meta --against 'mnist-cnn --batch 2'",
         "mnist-cnn --batch 2"}};
    work_folder_begin();
    for (int i = 0; i < 2; i++) {
        char command[400];
        snprintf(command, sizeof command,
                 "'%s' %s > '%s/out'\ngrep -q '^other counts than %s;' '%s/out'\n",
                 program_path(commands[i][0]), commands[i][1], work_folder, commands[i][2],
                 work_folder);
        work_folder_run(command);
    }
    work_folder_end();
}
END_TEST

START_TEST(another_network_stands_in_the_place_of_the_one_named) {
    ProgramRun got = run_of("profile_model", "lenet5 --device meta --against mnist-cnn");
    ck_assert_msg(got.status == 0 && !got.err[0], "%s", got.err);
    ck_assert_ptr_nonnull(strstr(got.out, "other counts than mnist-cnn"));
    program_run_free(&got);
    got = run_of("profile_model", "lenet5 --device meta --against none-such");
    program_check_refusal(&got, 2, "none-such", "there is no network of this name");
    work_folder_begin(); // where it stands in a file of options
    work_folder_run("echo 'model = lenet5\njson = /dev/null' > c.cfg\n");
    char arguments[100];
    snprintf(arguments, sizeof arguments, "--config %s/c.cfg --device meta --against mnist-cnn",
             work_folder);
    got = run_of("profile_model", arguments);
    ck_assert_msg(got.status == 0 && strstr(got.out, "other counts than mnist-cnn"), "%s%s",
                  got.out, got.err);
    program_run_free(&got);
    work_folder_end();
    got = run_of("profile_model", "lenet5 resnet18 --device meta --against mnist-cnn");
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
        {limits_of_counts, 0},
        {limits_of_times_are_of_five_runs, 0},
        {a_ci_reads_which_hold, 0},
        {what_is_not_judged_is_no_pass, 0},
        {the_job_that_readme_shows_does_what_it_says, 0},
        {what_cannot_be_is_one_line, REFUSED},
        {names_are_told_in_one_line, 0},
        {a_fifo_is_not_waited_for_without_end, 0},
        {a_disk_that_is_full_is_told, 0},
        {several_flags_may_follow, 0},
        {another_network_stands_in_the_place_of_the_one_named, 0},
        {NULL, 0},
    };
    return harness_main("profile_diff_program", tests);
}
