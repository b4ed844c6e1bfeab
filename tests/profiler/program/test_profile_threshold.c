// test_profile_threshold.c -- --threshold and --junit as a user types them: limits of counts and of
// times, the files for a CI, README's CI job, and refusals.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/helpers/folder_runs.h"
#include "tests/helpers/harness.h"
#include "tests/helpers/work_folder.h"

#define SMALL "--layers 20,10 --batch 8 --iterations 10 --epochs 0 "

static void save(const char *arguments) { free(folder_text("profile_mlp", arguments, 0, NULL)); }

// ---- limits ------------------------------------------------------------------------------------
START_TEST(limits_of_counts) {
    folder_expect("--device meta --threshold flops:162M,peak_memory:10MB", 0, "THRESHOLDS", NULL);
    folder_expect("--device meta --threshold flops:161M --threshold macs:1T", 1,
                  "  flops:161M BROKEN", NULL);
    folder_expect("--device meta --quiet --threshold macs:1T,flops:161M,bytes:1B", 1, NULL,
                  "--threshold flops:161M: broken: 161,242,616");
    work_folder_begin();
    save("--device meta --save %s/base.json --quiet");
    folder_expect("--device meta --compare %s/base.json --threshold flops:+0%%,peak_memory:+0%%", 0,
                  "  flops:+0%       holds", NULL);
    folder_expect("--device meta --batch 65 --force --compare %s/base.json --threshold flops:+0%%",
                  1, "  flops:+0% BROKEN", NULL);
    work_folder_end();
}
END_TEST

START_TEST(limits_of_times_are_of_five_runs) {
    folder_expect(SMALL "--threshold latency:10s,layer:*:10s", 0, ", 5 runs)", NULL);
    folder_expect(SMALL "--threshold latency:1ns", 1, "  latency:1ns BROKEN", NULL);
    folder_expect(SMALL "--against --fuse --threshold latency:+5000%%", 0, "  latency:+5000% holds",
                  NULL);
}
END_TEST

START_TEST(a_ci_reads_which_hold) {
    char path[64];
    work_folder_begin();
    folder_expect("--device meta --threshold flops:161M,peak_memory:10MB --junit %s/j.xml", 1, NULL,
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

// In a workflow's run GitHub shows the broken limits, and the result of a comparison.
START_TEST(github_is_told_beside_the_report) {
    work_folder_begin();
    work_folder_run(
        "export GITHUB_ACTIONS=true\n"
        "not profile_mlp --device meta --threshold flops:161M,peak_memory:10MB 2>told >report\n"
        "echo '::error title=--threshold flops%3A161M::broken: 161,242,616' | cmp - told\n"
        "grep -q THRESHOLDS report\nnot grep :: report\n"
        "profile_mlp --device meta --against --fuse --quiet 2>told\n"
        "echo '::notice title=profile_mlp::other counts than with --fuse;'"
        "' times are not compared' | cmp - told\n"
        "profile_mlp --device meta --threshold flops:162M 2>told >report\ntest ! -s told\n");
    work_folder_end();
}
END_TEST

// A limit that could not be judged does not pass, and no old file is left behind.
START_TEST(what_is_not_judged_is_no_pass) {
    work_folder_begin();
    work_folder_run("echo old > j.xml\n");
    save(SMALL "--save %s/base.json --quiet");
    folder_expect(SMALL "--compare %s/base.json --runs 1 --junit %s/j.xml --quiet", 1, NULL,
                  "--threshold latency:+5%: unknown: times were not compared");
    work_folder_run("grep -q '<error type=\"unknown\"' j.xml\n");
    work_folder_end();
}
END_TEST

// Two runs of each are never sure, and there is no time for more: a warning, or a failure if that
// was asked for.
#define FEW SMALL "--runs 2 --time-limit 1ms --against --fuse --threshold latency:+900%% "
START_TEST(what_cannot_be_told_is_a_warning) {
    work_folder_begin();
    folder_expect(FEW, 0, "  latency:+900% CANNOT BE TOLD step: ", NULL);
    folder_expect(FEW "--junit %s/j.xml", 0, "\n  1 of 1 cannot be told. More --runs may tell;",
                  NULL);
    work_folder_run("grep -q 'failures=\"0\" errors=\"0\" skipped=\"1\"' j.xml\n"
                    "grep -q '<skipped message=\"cannot be told: step: ' j.xml\n");
    folder_expect(FEW "--quiet", 0, NULL, "--threshold latency:+900%: cannot be told: step: ");
    folder_expect(FEW "--undecided fail --junit %s/j.xml", 1, "CANNOT BE TOLD", NULL);
    work_folder_run("grep -q '<failure type=\"cannot be told\" message=' j.xml\n"
                    "export GITHUB_ACTIONS=true\n"
                    "profile_mlp " SMALL "--runs 2 --time-limit 1ms --against --fuse --quiet "
                    "--threshold latency:+900% 2> told\n"
                    "grep -q '^::warning title=--threshold latency%3A+900%25::cannot be told: ' "
                    "told\nnot grep -q ::error told\n");
    work_folder_end();
}
END_TEST

// A limit at the measured time: three times as many processes follow, and their figures count.
START_TEST(three_times_as_many_runs_may_tell) {
    work_folder_begin();
    work_folder_run(
        "at=10us\nfor i in 1 2 3 4 5 6 7 8 9; do\n" // then the previous run's median
        "  profile_mlp " SMALL "--runs 3 --threshold latency:$at > said || true\n"
        "  at=$(sed -n 's/^  latency:.* \\([0-9.]*\\) \\([mun]s\\) (.*/\\1\\2/p' said)\n"
        "  grep -q ', 9 runs)' said && exit 0\ndone\ncat said\nexit 1\n");
    work_folder_end();
}
END_TEST

START_TEST(the_step_of_an_inference_is_limited) {
    work_folder_begin();
    work_folder_run("command='profile_model lenet5 --inference --iterations 10'\n"
                    "$command --threshold inference:10s | grep -q '^  inference:10s holds '\n"
                    "not $command --threshold inference:1ns > said\n"
                    "grep -q '^  inference:1ns BROKEN ' said\n");
    work_folder_end();
}
END_TEST

// ---- README's CI job ---------------------------------------------------------------------------
// Copies the text from `begin` to `end` of README as one line.
static void command_of(const char *begin, const char *end, char *command, size_t size) {
    static char readme[1 << 16];
    FILE *file = fopen("profiler/CI.md", "r");
    ck_assert_msg(file != NULL, "profiler/CI.md: run the tests from the root");
    readme[fread(readme, 1, sizeof readme - 1, file)] = '\0';
    fclose(file);
    char *from = strstr(readme, "# .github/workflows/profile.yml");
    if (from) from = strstr(from, begin);
    char *to = from ? strstr(from, end) : NULL;
    ck_assert_msg(to && (size_t)(to - from) < size, "profiler/CI.md: no %s in its job", begin);
    snprintf(command, size, "%.*s", (int)(to - from), from);
    for (char *c = command; (c = strchr(c, '\n'));) *c = ' ';
}

START_TEST(the_job_that_readme_shows_does_what_it_says) {
    char command[400], script[1600];
    command_of("./profile_mlp --against-program", "\n      - ", command, sizeof command);
    work_folder_begin();
    snprintf(script, sizeof script,
             "program=$(command -v profile_mlp)\ncp \"$program\" .\ncp \"$program\" before\n"
             "%s " SMALL "> said 2>&1 || test $? = 1\n" // 1 is possible beside other work
             "grep -q ' than ./before' said\n"
             "grep -q '^  latency:+5%%  ' said\n"
             "grep -q '^  layer:\\*:+5%%  ' said\n"
             "grep -q 'name=\"flops:+0%%\" time=\"0\"/>' profile.xml\n",
             command);
    work_folder_run(script);
    work_folder_end();
}
END_TEST

// ---- refusals ----------------------------------------------------------------------------------
START_TEST(what_is_no_limit_is_one_line) {
    static const Refusal refused[] = {
        {"--compare %s/base.json --junit /none/j.xml", 3, "/none/j.xml", NULL},
        {"--threshold latenzy:1ms", 2, "--threshold latenzy:1ms: unknown key", NULL},
        {"--threshold latency:1MB", 2, "expected a time", NULL},
        {"--threshold latency:+5%%", 2, "latency:+5% needs --compare FILE or --against WHAT", NULL},
        {"--device meta --threshold latency:1ms", 2, "nothing takes time on the meta device", NULL},
        {"--undecided fail", 2, "--undecided fail needs --threshold LIMITS", NULL},
        {"--undecided maybe", 2, "--undecided maybe: expected pass or fail", NULL},
        {"--junit %s/j.xml", 2, "needs --threshold LIMITS", NULL},
        {"--threshold flops:1 --junit /none/j.xml", 3, "/none/j.xml", NULL},
    };
    work_folder_begin();
    save("--device meta --save %s/base.json --quiet");
    expect_refusals(refused, sizeof refused / sizeof refused[0]);
    work_folder_end();
}
END_TEST

// Control characters and invalid characters are not printed.
START_TEST(names_are_told_in_one_line) {
    work_folder_begin();
    work_folder_run(
        "not profile_mlp --device meta --threshold \"$(printf 'lat\\033ency\\n:1s')\" 2> said\n"
        "[ $(wc -l < said) = 1 ]\nnot grep -q \"$(printf '\\033')\" said\n"
        "not profile_mlp " SMALL "--quiet --threshold \"$(printf 'layer:f\\nc:1s')\" 2> said\n"
        "[ $(wc -l < said) = 1 ]\n"
        "not profile_mlp " SMALL
        "--threshold \"$(printf 'layer:\\357\\277\\277*:1s')\" --junit j.xml > said\n"
        "grep -q 'name=\"layer:???\\*:1s\"' j.xml\n");
    work_folder_end();
}
END_TEST

START_TEST(a_disk_that_is_full_is_told) {
    ProgramRun got = program_run(program_path("profile_mlp"), "--device meta --threshold flops:1",
                                 PROGRAM_FULL_DISK);
    program_check_refusal(&got, 3, "standard output", "");
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {limits_of_counts, 0},
        {limits_of_times_are_of_five_runs, 0},
        {a_ci_reads_which_hold, 0},
        {github_is_told_beside_the_report, 0},
        {what_is_not_judged_is_no_pass, 0},
        {what_cannot_be_told_is_a_warning, 0},
        {three_times_as_many_runs_may_tell, 0},
        {the_step_of_an_inference_is_limited, 0},
        {the_job_that_readme_shows_does_what_it_says, 0},
        {what_is_no_limit_is_one_line, 0},
        {names_are_told_in_one_line, 0},
        {a_disk_that_is_full_is_told, 0},
        {NULL, 0},
    };
    return harness_main("profile_threshold", tests);
}
