// test_profile_compare.c -- several networks in one table: each row equals the network's own
// profile, in the given order; incomparable networks are refused, and the one at fault is named.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profiler/base/text.h"
#include "tests/helpers/harness.h"
#include "tests/helpers/profile_document.h"
#include "tests/helpers/run_program.h"

static ProgramRun run(const char *arguments) {
    return program_run(program_path("profile_model"), arguments, PROGRAM_CAPTURED);
}

// ---- the table ---------------------------------------------------------------------------------
// Parameters and MACs of conventions.md; peaks as in each network's own report.
START_TEST(a_row_for_each_as_typed) {
    ProgramRun got = run("vgg16 resnet18 mobilenet_v2 --device meta");
    ck_assert_msg(got.status == 0 && !got.err[0], "%s", got.err);
    program_check_columns(got.out);
    const char *vgg = strstr(got.out, "\nvgg16              138.4M   15.5G"),
               *resnet = strstr(got.out, "\nresnet18            11.7M   1.81G"),
               *mobile = strstr(got.out, "\nmobilenet_v2        3.50M  300.8M");
    ck_assert_msg(vgg && resnet && mobile && vgg < resnet && resnet < mobile, "%s", got.out);
    ck_assert_ptr_nonnull(strstr(got.out, "\n  each is given (1, 3, 224, 224)\n"));
    ck_assert_msg(!strstr(got.out, "TIME"), "nothing ran");
    program_run_free(&got);
}
END_TEST

// Every cell equals the number in the network's own document.
START_TEST(each_cell_is_what_the_network_has_alone) {
    static const char *const names[] = {"resnet18", "lenet5"};
    ProgramRun got = run("resnet18 lenet5 --device meta --optimizer momentum");
    for (int i = 0; i < 2; i++) {
        char arguments[80], row[1400];
        snprintf(arguments, sizeof arguments, "%s --device meta --optimizer momentum", names[i]);
        json_t *alone = document_of("profile_model", arguments);
        int64_t bytes = document_integer(alone, "totals.step.bytes_read") +
                        document_integer(alone, "totals.step.bytes_written");
        snprintf(row, sizeof row, "\n%-17s%8s%8s%8s%8s%7s%8s%8s%8s\n", names[i],
                 text_short_count(document_integer(alone, "model.parameters")).s,
                 text_short_count(document_integer(alone, "totals.forward.macs")).s,
                 text_short_count(document_integer(alone, "totals.step.total_flops")).s,
                 text_bytes_si(bytes).s,
                 text_number(document_real(alone, "totals.step.intensity")).s,
                 text_bytes_si(document_integer(alone, "memory.predicted.saved_bytes")).s,
                 text_bytes_si(document_integer(alone, "memory.inference_peak_bytes")).s,
                 text_bytes_si(document_integer(alone, "memory.predicted.peak_bytes")).s);
        ck_assert_msg(strstr(got.out, row) != NULL, "no %sin\n%s", row, got.out);
        json_decref(alone);
    }
    program_run_free(&got);
}
END_TEST

static const struct {
    const char *sort, *first, *second, *third;
} orders[] = {
    {"order", "resnet18", "Linear", "lenet5"},  {"parameters", "resnet18", "lenet5", "Linear"},
    {"flops", "resnet18", "Linear", "lenet5"},  {"bytes", "resnet18", "lenet5", "Linear"},
    {"memory", "resnet18", "lenet5", "Linear"},
};
enum { ORDERS = sizeof orders / sizeof orders[0] };

START_TEST(most_comes_first) {
    char arguments[160], row[40];
    snprintf(arguments, sizeof arguments,
             "resnet18 Linear(784,20)@64x784 lenet5 --device meta --optimizer momentum "
             "--sort %s",
             orders[_i].sort);
    ProgramRun got = run(arguments);
    const char *names[] = {orders[_i].first, orders[_i].second, orders[_i].third}, *at = got.out;
    program_check_columns(got.out);
    for (int k = 0; k < 3 && at; k++) {
        snprintf(row, sizeof row, "\n%s", names[k]);
        at = strstr(at, row);
    }
    ck_assert_msg(got.status == 0 && at, "%s: %s%s", orders[_i].sort, got.err, got.out);
    snprintf(row, sizeof row, _i == 0 ? "; as typed\n" : "; by %s\n", orders[_i].sort);
    ck_assert_ptr_nonnull(strstr(got.out, row));
    ck_assert_ptr_nonnull(strstr(got.out, "\n  lenet5 is given (1, 1, 32, 32)\n"));
    program_run_free(&got);
}
END_TEST

START_TEST(on_the_cpu_there_are_times) {
    ProgramRun got = run("lenet5 mnist-cnn --iterations 6 --warmup 2 --sort time");
    ck_assert_msg(got.status == 0 && !got.err[0], "%s", got.err);
    program_check_columns(got.out);
    const char *time = strstr(got.out, "\n\nTIME  of a step, one network after the other\n");
    ck_assert_msg(time && strstr(time, "\nlenet5 ") && strstr(time, " images/s"), "%s", got.out);
    program_run_free(&got);
    got = run("lenet5 mnist-cnn --iterations 2 --warmup 2 --inference");
    program_check_columns(got.out);
    ck_assert_msg(strstr(got.out, "COMPARISON  inference, fp32; as typed") &&
                      strstr(got.out, "too few samples"),
                  "%s", got.out);
    program_run_free(&got);
}
END_TEST

// ---- the file ----------------------------------------------------------------------------------
START_TEST(each_document_is_the_networks_own) {
    static const char *const names[] = {"lenet5 --batch 3", "mnist-cnn --batch 3"};
    ProgramRun got = run("lenet5 mnist-cnn --batch 3 --device meta --json -");
    ck_assert_msg(got.status == 0 && !got.err[0], "%s", got.err);
    json_t *both = document_parse(got.out);
    ck_assert_str_eq(json_string_value(document_at(both, "schema")), "ridgepoint.comparison/v1");
    json_t *models = document_at(both, "models");
    ck_assert_uint_eq(json_array_size(models), 2);
    for (size_t i = 0; i < 2; i++) {
        char arguments[80];
        snprintf(arguments, sizeof arguments, "%s --device meta", names[i]);
        json_t *alone = document_of("profile_model", arguments), *model = json_array_get(models, i);
        document_check(model);
        document_check_same_counts(model, alone, names[i]);
        json_decref(alone);
    }
    json_decref(both);
    program_run_free(&got);
}
END_TEST

// Even without a cache the first network's ceilings serve the next, which may raise them.
START_TEST(ceilings_are_measured_once_for_all) {
    program_names();
    ProgramRun got = program_run("/usr/bin/env",
                                 "XDG_CACHE_HOME=/dev/null profile_model lenet5 mnist-cnn "
                                 "--iterations 1 --warmup 2 --json -",
                                 PROGRAM_CAPTURED);
    ck_assert_msg(got.status == 0 && !got.err[0], "%s", got.err);
    json_t *both = document_parse(got.out), *models = document_at(both, "models");
    double peaks[2];
    for (size_t i = 0; i < 2; i++)
        peaks[i] = document_real(json_array_get(models, i), "machine.peak_flops_per_second");
    ck_assert(peaks[0] > 0.0 && peaks[1] >= peaks[0] && peaks[1] < 1.5 * peaks[0]);
    json_decref(both);
    program_run_free(&got);
}
END_TEST

// ---- refusals ----------------------------------------------------------------------------------
// Sorts by a training step's peak, which has activations, not by inference's: 0.5 MB and 4.
START_TEST(memory_is_that_of_a_step) {
    ProgramRun got = run("Linear(1000,1000)@1x1000 90*Sequential(Linear(8,8)Tanh)@4096x8 "
                         "--device meta --optimizer sgd --sort memory");
    const char *deep = strstr(got.out, "\n90*Seq"), *wide = strstr(got.out, "\nLinear(1000,10");
    ck_assert_msg(got.status == 0 && deep && wide && deep < wide, "%s%s", got.err, got.out);
    program_run_free(&got);
}
END_TEST

static const ProgramRefusal wrong[] = {
    {"resnet18 vgg12 --device meta", "vgg12", "did you mean", 2},
    {"resnet18 gpt2 --device meta --image 64", "gpt2", "--image", 2},
    {"lenet5 Linear(3,4)@2x5 --device meta", "Linear(3,4)@2x5: ", "linear", 2},
    {"lenet5 vgg16 --batch 100000", "vgg16 3x224x224: a step takes", "--device meta", 3},
    {"lenet5 /dev", "/dev", "file", 3},
    {"lenet5 vgg11 --sort roof", "--sort roof", "parameters", 2},
    {"lenet5 vgg11 --sort time --device meta", "--sort time", "--sort flops", 2},
    {"lenet5 --sort memory --device meta", "--sort memory", "bytes", 2},
    {"lenet5 README.md --json ./README.md", "--json ./README.md", "is read", 2},
    {"lenet5 vgg11 --device meta --json /nonexistent/x.json", "/nonexistent/x.json", "", 3},
};

START_TEST(what_cannot_be_compared_is_refused_in_one_line) {
    program_refuses("profile_model", &wrong[_i]);
}
END_TEST

START_TEST(thirty_two_and_no_more) {
    char arguments[400] = "";
    for (int i = 0; i < 32; i++) strcat(arguments, "lenet5 ");
    strcat(arguments, "--device meta");
    ProgramRun got = run(arguments);
    ck_assert_msg(got.status == 0 && program_count_lines(got.out) == 3 + 32 + 1, "%s", got.out);
    program_run_free(&got);
    strcat(arguments, " lenet5");
    got = run(arguments);
    program_check_refusal(&got, 2, "32", "lenet5");
}
END_TEST

// The command is printed whole, however long, so that it can be typed again.
START_TEST(the_command_is_there_whole) {
    char arguments[2000] = "";
    for (int i = 0; i < 32; i++)
        strcat(arguments, "Linear(3,3)Linear(3,3)Linear(3,3)Linear(3,3)@2x3 ");
    strcat(arguments, "--device meta --json -");
    ProgramRun got = run(arguments);
    ck_assert_msg(got.status == 0 && !got.err[0], "%s", got.err);
    json_t *document = document_parse(got.out);
    const char *command = json_string_value(document_at(document, "command"));
    ck_assert_ptr_nonnull(strstr(command, "' --device meta --json -"));
    json_decref(document);
    program_run_free(&got);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {a_row_for_each_as_typed, 0},
        {each_cell_is_what_the_network_has_alone, 0},
        {most_comes_first, ORDERS},
        {memory_is_that_of_a_step, 0},
        {on_the_cpu_there_are_times, 0},
        {each_document_is_the_networks_own, 0},
        {ceilings_are_measured_once_for_all, 0},
        {what_cannot_be_compared_is_refused_in_one_line, sizeof wrong / sizeof wrong[0]},
        {thirty_two_and_no_more, 0},
        {the_command_is_there_whole, 0},
        {NULL, 0},
    };
    return harness_main("profile_compare", tests);
}
