// test_machine_known.c -- published ceilings by name: rules of the table, and bounds on the meta
// device compared with arithmetic by hand. The programs' use of them is tested from outside.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profiler/machine/machine_known.h"
#include "tests/helpers/harness.h"
#include "tests/helpers/profile_document.h"
#include "tests/helpers/run_program.h"

// ---- the table ---------------------------------------------------------------------------------
START_TEST(each_row_is_a_machine_with_a_source) {
    const KnownMachine *known;
    int n = 0;
    for (; (known = machine_known_at(n)); n++) {
        ck_assert_ptr_eq(machine_known(known->name), known); // the first with that name
        const char *suffix = strrchr(known->name, '-');
        ck_assert_msg(suffix && strcmp(suffix + 1, precision_brief(known->precision)) == 0, "%s",
                      known->name);
        ck_assert_msg(strlen(known->source) > 10 && known->model[0], "%s", known->name);
        ck_assert_msg(known->card == (known->memory_bytes > 0), "%s", known->name);
        Machine machine;
        machine_of_known(known, &machine);
        double ridge = machine_ridge(&machine, 1);
        ck_assert_msg(ridge > 9.0 && ridge < 500.0, "%s: ridge %g", known->name, ridge);
        ck_assert(!machine.measured && machine.levels[0].bytes < machine.levels[1].bytes);
        ck_assert(machine.levels[0].bytes_per_second > machine.levels[1].bytes_per_second);
        ck_assert_int_eq(machine.device[0] != '\0', known->card);
    }
    ck_assert_int_gt(n, 30);
    ck_assert(!machine_known("a100") && !machine_known("") && !machine_known_at(-1));
}
END_TEST

// The figures that the makers publish.
START_TEST(figures_are_the_makers) {
    const KnownMachine *a100 = machine_known("a100-bf16"), *h200 = machine_known("h200-fp32");
    ck_assert(a100->peak_flops_per_second == 312e12 && a100->bytes_per_second == 1555e9);
    ck_assert(a100->memory_bytes == 40000000000 && a100->cache_bytes == 41943040);
    ck_assert(h200->peak_flops_per_second == 67e12 && h200->bytes_per_second == 4.8e12);
    ck_assert_double_eq(machine_known("epyc-9654-fp32")->bytes_per_second, 460.8e9);
}
END_TEST

// ---- bounds ------------------------------------------------------------------------------------
static const struct {
    const char *model, *peaks, *bound, *level;
    double seconds; // seconds of a forward
} bounds[] = {
    {"Linear(4096,4096,bias=false)@4096x4096", "a100-fp32", "compute", "DRAM",
     2.0 * 4096 * 4096 * 4096 / 19.5e12},
    {"Linear(4096,4096,bias=false)@4096x4096", "a100-bf16", "compute", "DRAM", // three x 32 MiB
     2.0 * 4096 * 4096 * 4096 / 312e12},
    {"Linear(8192,8192,bias=false)@1x8192", "a100-fp32", "memory", "DRAM",
     4.0 * (8192.0 * 8192 + 2 * 8192) / 1555e9},
    {"Linear(8192,8192,bias=false)@1x8192", "h100-bf16", "memory", "DRAM",
     2.0 * (8192.0 * 8192 + 2 * 8192) / 3350e9},
    {"ReLU@65536x1024", "a100-fp32", "memory", "DRAM", 8.0 * 65536 * 1024 / 1555e9},
    {"ReLU@64x64", "h100-fp32", "compute", "L2", 4096 / 67e12}, // the L2 has no published bandwidth
    {"ReLU@65536x1024", "xeon-8380-fp32", "memory", "DRAM", 8.0 * 65536 * 1024 / 204.8e9},
};
enum { BOUNDS = sizeof bounds / sizeof bounds[0] };

START_TEST(a_bound_is_arithmetic_or_memory_whichever_is_longer) {
    char path[] = "/tmp/test_machine_known_XXXXXX", arguments[200];
    int file = mkstemp(path);
    ck_assert(file >= 0 && dprintf(file, "%s\n", bounds[_i].model) > 0);
    snprintf(arguments, sizeof arguments, "%s --inference --device meta --peaks %s", path,
             bounds[_i].peaks);
    json_t *document = document_of("profile_model", arguments);
    double got = document_real(document, "totals.forward.op_roofs_seconds");
    ck_assert_msg(fabs(got / bounds[_i].seconds - 1.0) < 0.002, "%s on %s: %g s, by hand %g",
                  bounds[_i].model, bounds[_i].peaks, got, bounds[_i].seconds);
    ck_assert_str_eq(json_string_value(document_at(document, "totals.forward.bound")),
                     bounds[_i].bound);
    ck_assert_str_eq(json_string_value(document_at(document, "totals.forward.level")),
                     bounds[_i].level);
    ck_assert_str_eq(json_string_value(document_at(document, "machine.source")), "given");
    ck_assert(json_is_null(document_at(document, "totals.forward.latency")));
    ck_assert(json_is_null(document_at(document, "totals.forward.roof_fraction")));
    json_decref(document);
    remove(path);
}
END_TEST

// ---- print -------------------------------------------------------------------------------------
static const struct {
    const char *arguments, *lines[3];
} printed[] = {
    {"gpt2 --tokens 1024 --device meta --peaks a100-bf16",
     {"| bf16 |", "\n  At best 4.47 ms a step, 228,916 tokens/s, on NVIDIA A100 SXM4 40 GB;\n",
      " fits into its 40.0 GB.\n"}},
    {"gpt2-xl --tokens 1024 --batch 8 --device meta --peaks rtx3090-fp32",
     {"on NVIDIA GeForce RTX 3090;", " does NOT fit into its 24.0 GB.\n", "\nAT BEST (ms)"}},
    {"resnet50 vgg16 --inference --device meta --peaks epyc-7763-fp32",
     {"\nAT BEST  of a step, op after op, on AMD EPYC 7763\n", "\nresnet50 ", "images/s"}},
    {"gpt2 --generate 2 --device meta --peaks h100-fp32",
     {"GENERATION", "memory-bound", "not measured"}},
    {"lenet5 --device meta --peaks tests/fixtures/peaks.json",
     {"on the machine given;", "\nAT BEST (us)", "ROOFLINE  as given"}},
    {"--help peaks", {"\na100-bf16 ", "NVIDIA A100 datasheet", "\nryzen-7950x-fp32 "}},
};
enum { PRINTED = sizeof printed / sizeof printed[0] };

START_TEST(bounds_are_told_in_80_columns) {
    ProgramRun got =
        program_run(program_path("profile_model"), printed[_i].arguments, PROGRAM_CAPTURED);
    ck_assert_msg(got.status == 0 && !got.err[0], "%s", got.err);
    for (int i = 0; i < 3; i++)
        ck_assert_msg(strstr(got.out, printed[_i].lines[i]), "no \"%s\" in\n%.2500s",
                      printed[_i].lines[i], got.out);
    program_check_columns(got.out);
    program_run_free(&got);
}
END_TEST

static const struct {
    const char *arguments;
    int status;
    const char *first, *second;
} refused[] = {
    {"lenet5 --peaks a100-fp32", 2, "--peaks a100-fp32", "--device meta"},
    {"lenet5 --device meta --peaks a100-bf16 --dtype fp32", 2, "--peaks a100-bf16",
     "leave out --dtype"},
    {"lenet5 --device meta --peaks a100", 3, "a100", "--help peaks"},
    {"lenet5 --device meta --peaks /dev/null", 3, "/dev/null", "not JSON"},
    {"lenet5 --device meta --peaks none", 2, "--peaks none", "--device cpu"},
};
enum { REFUSED = sizeof refused / sizeof refused[0] };

START_TEST(what_is_no_machine_for_it_is_refused) {
    ProgramRun got =
        program_run(program_path("profile_model"), refused[_i].arguments, PROGRAM_CAPTURED);
    program_check_refusal(&got, refused[_i].status, refused[_i].first, refused[_i].second);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {each_row_is_a_machine_with_a_source, 0},
        {figures_are_the_makers, 0},
        {a_bound_is_arithmetic_or_memory_whichever_is_longer, BOUNDS},
        {bounds_are_told_in_80_columns, PRINTED},
        {what_is_no_machine_for_it_is_refused, REFUSED},
        {NULL, 0},
    };
    return harness_main("machine_known", tests);
}
