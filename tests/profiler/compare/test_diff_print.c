// test_diff_print.c -- the printed difference: one sentence first, then the layers that surely
// changed, by seconds, and the counts that differ; in 80 columns whatever the names.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/compare/profile_diff.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/run_program.h"
#include "tests/profiler/compare/planted_profile.h"

static Profile base, now;

static void begin(int runs) {
    base = planted_profile(runs, 1);
    now = planted_profile(runs, 2);
}

static DiffStory story(void) {
    return (DiffStory){.with = "", .base = "base.json", .build = "", .unit = "samples"};
}

// Prints the difference; frees the two profiles. The caller frees the text.
static char *printed(DiffStory of) {
    char *text;
    size_t size;
    ProfileDiff diff;
    FILE *file = open_memstream(&text, &size);
    ck_assert_int_eq(profile_diff(&base, &now, false, &diff), STATUS_OK);
    diff_print(&diff, &of, file);
    fclose(file);
    profile_diff_free(&diff);
    profile_free(&base);
    profile_free(&now);
    program_check_columns(text);
    return text;
}

static void expect_text(DiffStory of, const char *want) {
    char *text = printed(of);
    ck_assert_str_eq(text, want);
    free(text);
}

// README shows exactly the printed text.
static void expect_in_readme(const char *text, size_t length) {
    static char readme[1 << 16];
    FILE *file = fopen("README.md", "r");
    ck_assert_msg(file != NULL, "README.md: run the tests from the root");
    readme[fread(readme, 1, sizeof readme - 1, file)] = '\0';
    fclose(file);
    char *part = strndup(text, length);
    ck_assert_msg(strstr(readme, part) != NULL, "README.md lacks:\n%s", part);
    free(part);
}

static void expect_begins(DiffStory of, const char *want) {
    char *text = printed(of);
    ck_assert_msg(want[0] && strncmp(text, want, strlen(want)) == 0, "%s", text);
    free(text);
}

START_TEST(of_the_same_it_says_so) {
    begin(5);
    expect_text(story(),
                "neither faster nor slower than base.json, as far as can be told: -0.4% to +0.7%\n"
                "\n"
                "TIME  of a step\n"
                "  layer    phase          base       now   change               95% CI\n"
                "  (all)    step        1.00 ms   1.00 ms    +0.1%       -0.4% to +0.7%\n"
                "  of 7 others no change can be told from noise\n"
                "\n"
                "COUNTS  FLOPs, bytes, parameters, memory, allocations: all as before\n"
                "\n"
                "  5 runs, the base 5; 95% sure, of all layers together; a change of 0.7% of the\n"
                "  step would have been seen\n");
}
END_TEST

START_TEST(a_change_and_where) {
    begin(10);
    planted_slow(&now, "relu1", REPORT_FORWARD, 0.5);
    planted_slow(&now, "fc2", REPORT_BACKWARD, 0.9);
    planted_slow(&now, NULL, REPORT_STEP, 0.93);
    now.predicted.peak.total = 1200;
    planted_layer(&now, "relu1")->phase[REPORT_FORWARD].cost.bytes_read = 32;
    DiffStory of = story();
    of.build = "the compiler was gcc 12, and is gcc 13";
    const char *want =
        "7.1% faster (6.7 to 7.6) than base.json, in relu1 forward\n"
        "\n"
        "TIME  of a step\n"
        "  layer    phase          base       now   change               95% CI\n"
        "  (all)    step        1.00 ms    929 us    -7.1%       -7.6% to -6.7%\n"
        "  relu1    forward      100 us   50.1 us     -50%     -50.3% to -49.7%\n"
        "  fc2      backward     190 us    171 us    -9.9%      -10.4% to -9.4%\n"
        "  of 5 others no change can be told from noise\n"
        "\n"
        "COUNTS  that differ\n"
        "  layer        phase     what                         base          now  change\n"
        "  (all)                  peak_bytes                  1,000        1,200    +20%\n"
        "  relu1        forward   bytes_read                     64           32    -50%\n"
        "\n"
        "  10 runs, the base 10; 95% sure, of all layers together; a change of 0.5% of\n"
        "  the step, or of 0.6% of fc1 forward, would have been seen\n"
        "  the compiler was gcc 12, and is gcc 13\n";
    expect_text(of, want);
    expect_in_readme(want, (size_t)(strstr(want, "\nCOUNTS") - want));
}
END_TEST

START_TEST(sentences) {
    begin(10);
    planted_slow(&now, NULL, REPORT_STEP, 3.0);
    expect_begins(story(), "3.00 times as slow (2.98 to 3.01) as base.json\n");
    begin(10);
    planted_slow(&now, NULL, REPORT_STEP, 1.3);
    planted_slow(&now, "fc2", REPORT_BACKWARD, 1.3);
    expect_begins(story(), "30% slower (29 to 30) than base.json, most in fc2 backward\n");
    begin(10);
    planted_slow(&now, "fc2", REPORT_BACKWARD, 1.3);
    expect_begins(story(),
                  "fc2 backward is 30% slower (29 to 31) than base.json; the step cannot be told\n"
                  "  from noise: -0.6% to +0.3%\n");
    begin(10);
    snprintf(planted_layer(&base, "fc1")->path, 8, "(model)");
    snprintf(planted_layer(&now, "fc1")->path, 8, "(model)");
    planted_slow(&now, "(model)", REPORT_OPTIMIZER, 1.3);
    expect_begins(story(), "the optimizer is 30% slower (");
    begin(3);
    planted_slow(&now, NULL, REPORT_STEP, 1.3);
    expect_begins(story(), "so few runs cannot tell it from base.json: +29.3% to +30.7%\n");
    begin(1);
    DiffStory of = story();
    of.untimed = "Times of one process say nothing of another's.";
    expect_begins(of, "the same counts as base.json; times are not compared\n"
                      "  Times of one process say nothing of another's.\n"
                      "\n"
                      "COUNTS  FLOPs, bytes");
}
END_TEST

START_TEST(one_more_of_many_is_told_exactly) {
    begin(5);
    base.parameters = 350000000000;
    now.parameters = 350000000001;
    char *text = printed(story());
    ck_assert_msg(strstr(text, "parameters                 350.0G       350.0G      +1\n") != NULL,
                  "%s", text);
    free(text);
}
END_TEST

START_TEST(many_layers_and_long_names_stay_within_80_columns) {
    begin(5);
    for (int i = 0; i < 3; i++) {
        memset(now.layers[i].path, 'a' + i, sizeof(now.layers[i].path) - 1);
        now.layers[i].parameters = now.layers[i].saved_bytes = INT64_MAX;
    }
    planted_slow(&now, NULL, REPORT_STEP, 1e6);
    planted_metronome(&now, 0.1e-3, 0.6e-3);
    char *text = printed(story());
    ck_assert_ptr_nonnull(strstr(text, "more: --json FILE"));
    ck_assert_ptr_nonnull(strstr(text, "A loop that never changes computes 50% faster now than"));
    const char *said = "and\n  reads 200% slower; times are divided by it";
    ck_assert_msg(strstr(text, said) != NULL, "%s", text);
    free(text);
}
END_TEST

START_TEST(what_is_not_divided_is_told) {
    begin(5);
    base.metronome.version = 0;
    char *text = printed(story());
    const char *said = "\n  Times are as measured, and not divided by what the machine gave: no "
                       "metronome\n  ran beside the base\n";
    ck_assert_msg(strstr(text, said) != NULL, "%s", text);
    free(text);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {of_the_same_it_says_so, 0},
        {a_change_and_where, 0},
        {sentences, 0},
        {one_more_of_many_is_told_exactly, 0},
        {what_is_not_divided_is_told, 0},
        {many_layers_and_long_names_stay_within_80_columns, 0},
        {NULL, 0},
    };
    return harness_main("diff_print", tests);
}
