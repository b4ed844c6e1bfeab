// test_profile_report.c -- the report of ./profile_mlp: 80 plain columns whatever the model,
// figures that add up, and a README that shows the current print.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/base/text.h"
#include "profiler/report/report.h"
#include "profiler/report/report_table.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/nets.h"
#include "tests/helpers/profile_document.h"
#include "tests/helpers/run_program.h"

#define QUICK " --iterations 3 --warmup 2 --peaks tests/fixtures/peaks.json"
#define EIGHT(x) x "," x "," x "," x "," x "," x "," x "," x
#define SIXTYFOUR(x)                                                                               \
    EIGHT(x)                                                                                       \
    "," EIGHT(x) "," EIGHT(x) "," EIGHT(x) "," EIGHT(x) "," EIGHT(x) "," EIGHT(x) "," EIGHT(x)

static char *report_of(const char *arguments) { // the report; free it
    ProgramRun run = program_run(program_path("profile_mlp"), arguments, PROGRAM_CAPTURED);
    ck_assert_msg(run.status == 0 && !run.err[0], "%s: exit status %d: %s", arguments, run.status,
                  run.err);
    free(run.err);
    return run.out;
}

// ---- columns ---------------------------------------------------------------------------------
static void check_line(const char *line, const char *what) {
    size_t size = strlen(line);
    int width = text_width(line);
    ck_assert_msg(width <= REPORT_WIDTH, "%s: %d columns:\n%s", what, width, line);
    ck_assert_msg(size == 0 || line[size - 1] != ' ', "%s: a space ends\n%s|", what, line);
    for (size_t i = 0; i < size; i++)
        ck_assert_msg((unsigned char)line[i] >= ' ', "%s: byte %d in\n%s", what, line[i], line);
    ck_assert_msg(!strstr(line, "nan") && !strstr(line, " inf "), "%s: no number:\n%s", what, line);
}

static void check_report(char *report, const char *what) {
    char *rest = report;
    ck_assert_int_gt(program_count_lines(report), 10);
    for (char *line; (line = strsep(&rest, "\n"));) check_line(line, what);
}

static const char *const models[] = {
    "--epochs 1 --steps 2" QUICK, // the default: with training
    "--layers 20,30,10" QUICK,    // no training, because of the sizes
    "--layers 1,1 --batch 1 --epochs 0" QUICK,
    "--layers 3,2 --batch 1 --epochs 0" QUICK,
    "--layers 1,1 --batch 1 --epochs 0 --iterations 10000 --warmup 1000", // long counts
    "--layers 2,2 --batch 65536 --epochs 0" QUICK,                        // many samples a second
    "--layers 2000,2000 --batch 128 --epochs 0 --threads 1 --optimizer sgd" QUICK, // milliseconds
    "--layers " SIXTYFOUR("9") " --batch 2 --epochs 0" QUICK,
    "--layers 7,5,3 --activation gelu_tanh --optimizer momentum --epochs 0" QUICK,
    "--layers 7,5,3 --activation none --optimizer adamw --epochs 0" QUICK,
    "--device meta --layers 1,1 --batch 1",
    "--device meta --layers 8,4",
    "--device meta --layers 12288,49152,12288 --batch 2048",
    "--device meta --layers " SIXTYFOUR("12345") " --batch 1024",
    "--device meta --layers 2147483647,1 --batch 1",
};
enum { MODELS = sizeof models / sizeof models[0] };

START_TEST(a_report_is_80_plain_columns_wide) {
    char *report = report_of(models[_i]);
    check_report(report, models[_i]);
    free(report);
}
END_TEST

// ---- figures ---------------------------------------------------------------------------------
static int64_t bytes_of(const char *report, const char *name) {
    const char *at = strstr(report, "\nMEMORY");
    at = at ? strstr(at, name) : NULL;
    if (!at) return 0; // without bytes there is no cell
    int64_t bytes = 0;
    at += strcspn(at, "0123456789");
    for (; *at == ',' || (*at >= '0' && *at <= '9'); at++)
        if (*at != ',') bytes = 10 * bytes + (*at - '0');
    return bytes;
}

START_TEST(the_report_says_what_the_document_says) {
    static const struct {
        const char *cell, *key;
    } cells[] = {{"  parameters ", "parameter_bytes"}, {"  gradients ", "gradient_bytes"},
                 {"  optimizer ", "optimizer_bytes"},  {"  activations ", "activation_bytes"},
                 {"  batch data ", "data_bytes"},      {"  workspace ", "workspace_bytes"},
                 {"  staging ", "staging_bytes"},      {"  PEAK ", "peak_bytes"}};
    char *report = report_of(models[_i]);
    json_t *document = document_new(models[_i]);
    json_t *memory = document_at(document, "memory.predicted");
    for (size_t i = 0; i < sizeof cells / sizeof cells[0]; i++)
        ck_assert_msg(bytes_of(report, cells[i].cell) == document_integer(memory, cells[i].key),
                      "%s: %s", models[_i], cells[i].cell);
    ck_assert(strstr(report, json_string_value(document_at(document, "memory.peak_op"))) != NULL);
    bool counted_only = strstr(report, "Counted on the meta device") != NULL;
    ck_assert(strstr(report, counted_only ? "\npredicted only" : "\npredicted = executed: "));
    ck_assert(counted_only == json_is_null(document_at(document, "totals.step.latency")));
    ck_assert(counted_only == json_is_null(document_at(document, "totals.steady")));
    ck_assert(counted_only == json_is_null(document_at(document, "totals.steps_per_sample")));
    ck_assert(counted_only == !strstr(report, "samples/s"));
    json_decref(document);
    free(report);
}
END_TEST

// Its 2,000,000,000 and more parameters would take 20 GB; the program takes little memory.
START_TEST(a_model_on_meta_takes_no_memory_and_counts_as_on_the_cpu) {
    json_t *huge = document_new("--device meta --layers 12288,49152,12288 --batch 2048");
    ck_assert(document_integer(huge, "memory.predicted.peak_bytes") > 20000000000);
    json_int_t used = document_integer(huge, "memory.process_peak_bytes");
    ck_assert_msg(used < 200000000, "%lld bytes", used);
    ck_assert_int_eq(document_integer(huge, "memory.reserved_bytes"), 0);
    json_decref(huge);
    json_t *meta = document_new("--epochs 0 --device meta --layers 50,40,10 --optimizer adamw");
    json_t *cpu = document_new("--epochs 0 --layers 50,40,10 --optimizer adamw" QUICK);
    document_check_same_counts(meta, cpu, "meta and cpu");
    json_decref(meta);
    json_decref(cpu);
}
END_TEST

START_TEST(the_number_of_threads_changes_no_count) {
    json_t *one = document_new("--epochs 0 --threads 1" QUICK);
    json_t *two = document_new("--epochs 0 --threads 2" QUICK);
    ck_assert_int_eq(document_integer(one, "environment.threads"), 1);
    ck_assert_int_eq(document_integer(two, "environment.threads"), 2);
    document_check_same_counts(one, two, "1 and 2 threads");
    json_decref(one);
    json_decref(two);
}
END_TEST

static bool says(const Profile *profile, const char *text) {
    char *report;
    size_t size;
    FILE *file = open_memstream(&report, &size);
    report_print(profile, file);
    fclose(file);
    bool found = strstr(report, text) != NULL;
    check_report(report, text);
    free(report);
    return found;
}

// A forward alone that is within 5 % of the forward in a step counts as equally fast.
START_TEST(a_forward_that_is_slower_alone_is_told) {
    Net net = net_random(3);
    Profile profile = net_profile(&net, 6);
    profile.others_share = 0.0;
    double step = profile.totals[REPORT_FORWARD].latency.statistics.median;
    static const double times[] = {0.5, 1.0, 1.04, 1.06, 3.0};
    for (int i = 0; i < 5; i++) {
        profile.inference.statistics.median = times[i] * step / (double)profile.accumulate;
        bool told =
            says(&profile, "\nforward only ran later, by itself; the forward of a step takes less");
        ck_assert_int_eq(told, times[i] > 1.05);
    }
    profile_free(&profile);
}
END_TEST

// 10 % past the roof is not noise yet; nor are 6 samples, or layers that sum to 5 % over the step.
START_TEST(noise_begins_at_ten_percent) {
    Net net = net_random(3);
    Profile profile = net_profile(&net, 6);
    LatencyStatistics *s = &profile.totals[REPORT_STEP].latency.statistics;
    const double quiet = 0.0999 * s->median, noisy = 0.1001 * s->median;
    profile.unattributed_seconds = 0.0;
    s->iqr = quiet;
    ck_assert(s->ci95_reached && !profile_is_noise(&profile));
    s->iqr = noisy;
    ck_assert(profile_is_noise(&profile));
    ck_assert(says(&profile, "  Start with ") && !says(&profile, "\nWHAT WOULD HELP"));
    s->iqr = quiet;
    s->ci95_reached = false;
    ck_assert(profile_is_noise(&profile));
    s->ci95_reached = true;
    profile.unattributed_seconds = -0.049 * s->median;
    ck_assert(!profile_is_noise(&profile));
    profile.unattributed_seconds = -0.051 * s->median;
    ck_assert(profile_is_noise(&profile));
    profile_free(&profile);
}
END_TEST

// More than 10 % past the roof is told; of two layers the farther one is named.
START_TEST(what_is_past_its_roof_is_told_with_the_reason) {
    Net net = net_random(3);
    Profile profile = net_profile(&net, 6);
    profile.others_share = 0.0;
    profile.has_machine = true;
    profile.machine = (Machine){.measured = true, .threads = 1, .n_levels = 1};
    profile.machine.levels[0] =
        (MachineLevel){.name = "DRAM", .bytes = INT64_MAX, .bytes_per_second = 1e9};
    profile.machine.peak_flops_per_second = 1e9;
    for (int i = 0; i < profile.n_layers; i++)
        profile.layers[i].phase[REPORT_STEP].roofline =
            (Roofline){.judged = true, .bound = BOUND_MEMORY, .roof_fraction = 1.1};
    ck_assert(!says(&profile, "past its roof"));
    profile.layers[0].phase[REPORT_STEP].roofline.roof_fraction = 1.2;
    profile.layers[1].phase[REPORT_STEP].roofline.roof_fraction = 1.3;
    char wanted[200];
    snprintf(wanted, sizeof wanted, "\n%s is past its roof: data lay nearer",
             profile_layer_label(&profile, &profile.layers[1], 12).s);
    ck_assert(says(&profile, wanted) && !says(&profile, "--calibrate"));
    profile.machine.measured = false;
    ck_assert(says(&profile, " is past its roof: the ceilings given are too low"));
    profile_free(&profile);
}
END_TEST

// If others had the cores for a fifth of a step or more, the report says so first and leaves out
// what that makes meaningless; below 20 % the times are the network's.
START_TEST(what_others_make_meaningless_is_left_out) {
    Net net = net_random(3);
    Profile profile = net_profile(&net, 6);
    profile.has_machine = true;
    profile.machine = (Machine){.measured = true, .threads = 1, .n_levels = 1};
    profile.machine.levels[0] =
        (MachineLevel){.name = "DRAM", .bytes = INT64_MAX, .bytes_per_second = 1e9};
    profile.machine.peak_flops_per_second = 1e9;
    static const double shares[] = {(double)NAN, 0.0, 0.19, 0.2, 1.0};
    for (int i = 0; i < profile.n_layers; i++)
        profile.layers[i].phase[REPORT_STEP].roofline =
            (Roofline){.judged = true, .bound = BOUND_MEMORY, .roof_fraction = 1.2};
    profile.totals[REPORT_STEP].roofline = (Roofline){.judged = true, .roof_fraction = 8.88};
    profile.overhead_low = -0.15;
    profile.overhead_high = 0.27;
    for (int i = 0; i < 5; i++) {
        bool busy = shares[i] >= 0.2;
        profile.others_share = shares[i];
        ck_assert_int_eq(says(&profile, "\n  Other programs had the cores for "), busy);
        ck_assert_int_eq(says(&profile, "888%"), !busy);
        ck_assert_int_eq(says(&profile, "overhead cannot be told from noise (-15.0% to 27.0%)"),
                         !busy);
        ck_assert_int_eq(says(&profile, " is past its roof"), !busy);
    }
    profile.others_share = 0.0;
    profile.overhead_low = 0.01;
    profile.overhead_fraction = 0.02;
    ck_assert(says(&profile, "a second pass, overhead 2% (1.0% to 27.0%)\n"));
    profile.overhead_low = -0.01;
    profile.overhead_high = 0.03;
    ck_assert(says(&profile, "\nlayers from a second pass\n")); // a narrow interval around 0
    profile.left_out[0] = "forward alone";
    profile.n_left_out = 1;
    ck_assert(says(&profile, "\n  Left out for want of time (--time-limit 5min): forward alone\n"));
    profile_free(&profile);
}
END_TEST

START_TEST(a_difference_is_told_within_the_columns) {
    Profile profile = {.model = "MLP", .optimizer = "SGD", .device = "meta"};
    snprintf(profile.measured.peak_op, sizeof profile.measured.peak_op, "relu in relu1 (forward)");
    snprintf(profile.difference, sizeof profile.difference,
             "fc12 backward_weight: elementwise_flops: predicted 51380224, executed 51380225");
    char *report = NULL;
    size_t size;
    FILE *file = open_memstream(&report, &size);
    report_print(&profile, file);
    fclose(file);
    ck_assert_msg(strstr(report, "PREDICTED IS NOT EXECUTED") && strstr(report, profile.difference),
                  "%s", report);
    check_report(report, "a difference");
    free(report);
}
END_TEST

// The mark of the caption's ridge stands below the axis' mark, as far as the columns allow.
START_TEST(whatever_the_ridge_its_name_stands_within_the_columns) {
    Net net = net_random(3);
    Profile profile = net_profile(&net, 2);
    profile.has_machine = true;
    profile.machine = (Machine){.threads = 1, .n_levels = 1, .dispatch_seconds = 1e-7};
    profile.machine.levels[0] =
        (MachineLevel){.name = "DRAM", .bytes = INT64_MAX, .bytes_per_second = 1e9};
    for (double ridge = 1e-3; ridge < 1e6; ridge *= 1.1) {
        profile.machine.peak_flops_per_second = 1e9 * ridge;
        char *report = NULL, *axis, *caption;
        size_t size;
        FILE *file = open_memstream(&report, &size);
        report_print(&profile, file);
        fclose(file);
        axis = strstr(strstr(report, "\nROOFLINE"), "\n  +");
        axis = axis ? axis + 1 : strstr(strstr(report, "\nROOFLINE"), "\n  ^") + 1;
        caption = strchr(axis, '\n') + 1;
        long mark = strchr(axis, '^') - axis, named = strchr(caption, '^') - caption;
        ck_assert_msg(named == mark, "ridge %g:\n%s", ridge, axis);
        check_report(report, "a ridge");
        free(report);
    }
    profile_free(&profile);
}
END_TEST

START_TEST(a_cards_name_and_memory_stand_within_the_columns) {
    Net net = net_random(4);
    Profile profile = net_profile(&net, 2);
    profile.has_machine = profile.has_card = true;
    profile.machine = (Machine){.measured = true,
                                .n_levels = 1,
                                .peak_flops_per_second = 999.4e12,
                                .dispatch_seconds = 1e-6};
    profile.machine.levels[0] =
        (MachineLevel){.name = "DRAM", .bytes = INT64_MAX, .bytes_per_second = 999.4e9};
    memset(profile.machine.device, 'W', sizeof profile.machine.device - 1);
    profile.card =
        (DeviceMemory){INT64_C(999400000000), INT64_C(999400000000), 999400000, 999400000, 1 << 20};
    profile.cached_bytes = INT64_C(999400000000);
    char *report;
    size_t size;
    FILE *file = open_memstream(&report, &size);
    report_print(&profile, file);
    fclose(file);
    ck_assert_msg(strstr(report, "\nROOFLINE  measured on WWWW") != NULL, "%s", report);
    ck_assert_msg(strstr(report, "\n  999 TFLOP/s, 999 GB/s (DRAM) -> ridge 1,000 FLOP/B\n") !=
                      NULL,
                  "%s", report);
    ck_assert_msg(strstr(report, "\n  on the card 999 MB workspaces, 999 GB cached, 999 GB of 999 "
                                 "GB free\n  on the host 999 MB pinned for copies\n") != NULL,
                  "%s", report);
    check_report(report, "a card");
    free(report);
    profile_free(&profile);
}
END_TEST

// ---- the README ------------------------------------------------------------------------------
static char readme[1 << 16];

static void read_readme(void) {
    FILE *file = fopen("README.md", "r");
    ck_assert_msg(file != NULL, "README.md: run the tests from the root");
    size_t size = fread(readme, 1, sizeof readme - 1, file);
    ck_assert_msg(size < sizeof readme - 1, "README.md is longer than this test thought");
    fclose(file);
}

// Blanks the measured cells of a row of the TIME table: all between FLOPs and FLOP/B, and all that
// comes after.
static void blank_times(char *row) {
    enum { TIMES = 27, INTENSITY = 57, ROOF = 63 };
    size_t size = strlen(row);
    for (size_t i = TIMES; i < size && i < INTENSITY; i++) row[i] = ' ';
    if (size > ROOF) row[ROOF] = '\0';
}

// Keeps, in place, the lines of a report that are the same in every run: headline, table, memory.
static void keep_counts(char *report) {
    char *to = report, *rest = report;
    bool head = true, table = false, memory = false;
    for (char *line; (line = strsep(&rest, "\n")) && strncmp(line, "predicted", 9) != 0;) {
        if (strncmp(line, "WHAT", 4) == 0) break; // advice depends on times
        size_t size = strlen(line);
        if (strncmp(line, "TIME", 4) == 0) table = true;
        memory = memory || strncmp(line, "MEMORY", 6) == 0;
        if (strncmp(line, "ROOFLINE", 8) == 0) table = false; // the machine's figures
        if (memory) table = true;
        bool row = table && !memory && line[0] != ' ' && strncmp(line, "TIME", 4) != 0;
        if (row) blank_times(line);
        size = strlen(line);
        bool keep = (head || table) && strncmp(line, "TIME", 4) && strncmp(line, "unattr", 6) &&
                    strncmp(line, "data wait", 9) && // only with training
                    strncmp(line, "  where it went", 15) && strspn(line, " ") < 18 &&
                    strncmp(line, "  of what", 9); // only if it is much
        head = false;
        if (!keep) continue;
        memmove(to, line, size);
        to += size;
        *to++ = '\n';
    }
    *to = '\0';
}

START_TEST(the_readme_shows_what_is_printed_today) {
    char *printed = report_of("--epochs 0" QUICK), *whole = strdup(printed);
    read_readme();
    char *shown = strstr(readme, "\nMLP 784-512-256-10 relu | ");
    ck_assert_msg(shown != NULL, "README.md has no report. Paste what ./profile_mlp prints:\n%s",
                  whole);
    shown++;
    char *end = strstr(shown, "\n```");
    if (end) *end = '\0';
    keep_counts(shown);
    keep_counts(printed);
    char *a = shown, *b = printed, *want, *got;
    while ((want = strsep(&b, "\n"))) {
        got = strsep(&a, "\n");
        ck_assert_msg(
            got && strcmp(got, want) == 0,
            "README.md shows\n%s\nbut ./profile_mlp prints (times left out)\n%s\nPaste:\n%s",
            got ? got : "nothing", want, whole);
    }
    free(printed);
    free(whole);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {a_report_is_80_plain_columns_wide, MODELS},
        {the_report_says_what_the_document_says, MODELS},
        {a_model_on_meta_takes_no_memory_and_counts_as_on_the_cpu, 0},
        {the_number_of_threads_changes_no_count, 0},
        {a_forward_that_is_slower_alone_is_told, 0},
        {noise_begins_at_ten_percent, 0},
        {what_is_past_its_roof_is_told_with_the_reason, 0},
        {what_others_make_meaningless_is_left_out, 0},
        {a_difference_is_told_within_the_columns, 0},
        {whatever_the_ridge_its_name_stands_within_the_columns, 0},
        {a_cards_name_and_memory_stand_within_the_columns, 0},
        {the_readme_shows_what_is_printed_today, 0},
        {NULL, 0},
    };
    return harness_main("profile_report", tests);
}
