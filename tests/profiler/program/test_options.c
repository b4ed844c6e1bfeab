// test_options.c -- every row of the table of flags: what it needs, what it cannot go with, what
// its values are called; and names that were mistyped. Not here: single command lines
// (test_profile_mlp.c).
#include "profiler/base/text.h"
#include "profiler/program/options_table.h"
#include "tests/helpers/harness.h"
#include "tests/helpers/run_program.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

// ---- a command line with one flag --------------------------------------------------------------
// A value that the flag takes, by how its argument is called.
static const char *sample_of(const Flag *flag) {
    static const char *const samples[][2] = {
        {"N", "5"},         {"N,N,...", "9,9,9"}, {"SIDE", "64"},        {"NAME=N", "a=1"},
        {"RATE", "0.1"},    {"F", "0.5"},         {"T", "0.5"},          {"SHARE", "0.5"},
        {"TIME", "10ms"},   {"SIZE", "500MB"},    {"LIMITS", "flops:1"}, {"AXIS=V,V", "batch=1"},
        {"FOLDER", "out/"}, {"PATTERN", "fc*"},   {"KIND=FILE", "a.svg"}};
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++)
        if (strcmp(flag->argument, samples[i][0]) == 0) return samples[i][1];
    return flag->value ? flag->value(1) : "x";
}

static const char *program_of(const Flag *flag) {
    return flag->programs & PROGRAM_MODEL ? "profile_model" : "profile_mlp";
}

// The flag, with its value, behind `others`; refused in a line that names it and says `why`.
static void expect_refused(const Flag *flag, const char *others, const char *why) {
    char line[200], name[40];
    bool network = flag->programs & PROGRAM_MODEL;
    snprintf(name, sizeof name, "--%s", flag->name);
    snprintf(line, sizeof line, "%s%s %s%s%s", network ? "lenet5 " : "", others, name,
             flag->argument ? "=" : "", flag->argument ? sample_of(flag) : "");
    ProgramRun got = program_run(program_path(program_of(flag)), line, PROGRAM_CAPTURED);
    ck_assert_msg(got.status == 2 && strstr(got.err, name) && strstr(got.err, why),
                  "%s: status %d, not \"%s\": %s", line, got.status, why, got.err);
    program_run_free(&got);
}

// ---- what a row says ---------------------------------------------------------------------------
START_TEST(a_flag_is_refused_where_its_row_says_so) {
    const Flag *flag = &options_flags[_i];
    char needs[60] = "";
    if (flag->needs) snprintf(needs, sizeof needs, "needs --%s", flag->needs);
    if (flag->needs) expect_refused(flag, "", needs);
    if (flag->needs) return; // it is that flag which goes with others, or does not
    if (flag->is & FLAG_RUNS) expect_refused(flag, "--device meta", "nothing runs on the meta");
    if (flag->is & FLAG_TRAINS && flag->programs & PROGRAM_MODEL)
        expect_refused(flag, "--inference", "is about training; leave out --inference");
    if (flag->not_with & NOT_SWEPT) expect_refused(flag, "--sweep batch=1,2", "with a sweep");
    if (flag->not_with & NOT_COMPARED)
        expect_refused(flag, "--against=--batch=2", "with a comparison");
    if (flag->not_with & NOT_TREND)
        expect_refused(flag, "--trend --history x.jsonl", "cannot go with --trend");
    if (flag->not_with & NOT_SEVERAL && flag->programs & PROGRAM_MODEL)
        expect_refused(flag, "resnet18", "takes one network, and");
}
END_TEST

// Nothing else is wrong with these: in capitals they are understood as well.
START_TEST(values_that_have_names_are_taken_in_any_case) {
    const Flag *flag = &options_flags[_i];
    const char *value;
    bool told = strcmp(flag->name, "completion") == 0; // whatever else was typed
    for (int i = 0; flag->value && strcmp(flag->name, "svg") != 0 && (value = flag->value(i));
         i++) {
        char line[200], large[64] = "";
        for (size_t k = 0; value[k] && k < sizeof large - 1; k++)
            large[k] = (char)toupper((unsigned char)value[k]);
        snprintf(line, sizeof line, "--%s=%s%s", flag->name, large,
                 told ? "" : " --device cpu --nope");
        ProgramRun got = program_run(program_path(program_of(flag)), line, PROGRAM_CAPTURED);
        ck_assert_msg(told ? got.status == 0 : strstr(got.err, "--nope: unknown") != NULL, "%s: %s",
                      line, got.err);
        program_run_free(&got);
    }
}
END_TEST

START_TEST(a_letter_too_many_is_told_from_a_flag) {
    const Flag *flag = &options_flags[_i];
    char line[60];
    snprintf(line, sizeof line, "--%sq", flag->name);
    ProgramRun got = program_run(program_path(program_of(flag)), line, PROGRAM_CAPTURED);
    program_check_refusal(&got, 2, line, "did you mean --");
}
END_TEST

// ---- names -------------------------------------------------------------------------------------
static const char *name_at(const void *names, int i) { return ((const char *const *)names)[i]; }

START_TEST(a_name_that_was_mistyped_has_a_nearest_one) {
    static const char *const names[] = {"resnet50", "resnet18", "mobilenet_v2", "vgg16", "gpt2",
                                        "gpt2-xl",  "alexnet",  "by",           "",      NULL};
    static const char *const typed[][2] = {{"resnet51", "resnet50"},
                                           {"mobilenetv2", "mobilenet_v2"},
                                           {"vgg-16", "vgg16"},
                                           {"gtp2", "gpt2"},
                                           {"Alexnet", "alexnet"},
                                           {"gpt2-xxl", "gpt2-xl"},
                                           {"bq", "by"},
                                           {"something else", NULL},
                                           {"qq", NULL},
                                           {"", NULL},
                                           {NULL, NULL}};
    for (size_t i = 0; i < sizeof typed / sizeof typed[0]; i++) {
        const char *nearest = nearest_name(typed[i][0], name_at, names);
        bool same =
            nearest && typed[i][1] ? strcmp(nearest, typed[i][1]) == 0 : !nearest && !typed[i][1];
        ck_assert_msg(same, "%s: %s", typed[i][0] ? typed[i][0] : "NULL",
                      nearest ? nearest : "none");
    }
    char longest[200];
    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    ck_assert_ptr_null(nearest_name(longest, name_at, names));
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {{a_flag_is_refused_where_its_row_says_so, options_flag_count},
                                 {values_that_have_names_are_taken_in_any_case, options_flag_count},
                                 {a_letter_too_many_is_told_from_a_flag, options_flag_count},
                                 {a_name_that_was_mistyped_has_a_nearest_one, 0},
                                 {NULL, 0}};
    return harness_main("options", tests);
}
