// test_profile_history.c -- --history and --trend as one types them, and files that are no history.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/helpers/harness.h"
#include "tests/helpers/run_program.h"
#include "tests/helpers/work_folder.h"

#define SMALL "--layers 20,10 --batch 8 --iterations 10 --epochs 0 --quiet "

static char *expect_run(const char *program, const char *arguments, int status, const char *err) {
    char all[600];
    snprintf(all, sizeof all, arguments, work_folder);
    ProgramRun got = program_run(program_path(program), all, PROGRAM_CAPTURED);
    ck_assert_msg(got.status == status, "%s: %d, %s %s", all, got.status, got.out, got.err);
    ck_assert_msg(err ? strstr(got.err, err) != NULL : !got.err[0], "%s: %s", all, got.err);
    program_check_columns(got.out);
    free(got.err);
    return got.out;
}

static void expect_part(const char *text, const char *part) {
    ck_assert_msg(strstr(text, part) != NULL, "no \"%s\" in\n%s", part, text);
}

START_TEST(a_history_grows_and_is_shown) {
    work_folder_begin();
    free(expect_run("profile_mlp", SMALL "--history %s/h.jsonl", 0, NULL));
    free(expect_run("profile_mlp", SMALL "--history %s/h.jsonl", 0, NULL));
    free(expect_run("profile_mlp", "--device meta --quiet --history %s/h.jsonl", 0, NULL));
    free(expect_run("profile_mlp", "--device meta --fuse --quiet --history %s/h.jsonl", 0, NULL));
    char *text = expect_run("profile_mlp", "--history %s/h.jsonl --trend", 0, NULL);
    expect_part(text, "TREND  4 entries");
    expect_part(text,
                "\n  profile_mlp --layers 20,10 --batch 8 --iterations 10 --epochs 0; MLP 20-10");
    expect_part(text, "\n    step       ");
    expect_part(text, "\n    FLOPs      ");
    free(text);
    text = expect_run("profile_model", "--trend --history %s/h.jsonl", 0, NULL); // of no network
    expect_part(text, "TREND  4 entries");
    free(text);
    work_folder_run("[ $(wc -l < h.jsonl) = 4 ]\n"
                    "[ $(grep -c '\"runs\": \\[[^],]*\\(,[^],]*\\)\\{4\\}\\]' h.jsonl) = 2 ]\n");
    work_folder_end();
}
END_TEST

static const struct {
    const char *arguments, *says;
    int status;
} refused[] = {
    {"--trend", "--trend: of what? --history FILE", 2},
    {"--trend --history x --threshold flops:1", "--threshold: no part of --trend", 2},
    {"--trend --history x --html y", "--html: no part of --trend", 2},
    {"--trend --history x --against --fuse", "no part of --trend", 2},
    {"--history /dev/null", "it is no file that grows", 3},
    {"--history -", "--history: expected a file, which grows", 2},
    {"--history=", "--history: expected a file, which grows", 2},
    {"--history %s/h --against --fuse", "--history: no part of a comparison", 2},
    {"--history %s/h --sweep batch=1", "--history: no part of a sweep", 2},
    {"--history %s/h --json %s/h", "names", 2},
    {"--history %s/none --trend", "none: No such file", 3},
    {"--history /none/h", "/none/h", 3},
    {"--history %s/notes", "notes: line 1: not JSON", 3}, // before anything is measured
    {"--history %s/notes --trend", "notes: line 1: not JSON", 3},
};
enum { REFUSED = sizeof refused / sizeof refused[0] };

START_TEST(what_is_no_history_is_one_line) {
    work_folder_begin();
    work_folder_run("printf 'my notes\\nand more' > notes\ncp notes before\n");
    char all[300];
    snprintf(all, sizeof all, refused[_i].arguments, work_folder, work_folder);
    ProgramRun got = program_run(program_path("profile_mlp"), all, PROGRAM_CAPTURED);
    ck_assert_str_eq(got.out, "");
    if (strcmp(refused[_i].says, "names") == 0)
        program_check_refusal(&got, 2, "--history ", "writes this file; name another");
    else
        program_check_refusal(&got, refused[_i].status, refused[_i].says, "");
    work_folder_run("cmp notes before\n");
    work_folder_end();
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {a_history_grows_and_is_shown, 0},
        {what_is_no_history_is_one_line, REFUSED},
        {NULL, 0},
    };
    return harness_main("profile_history", tests);
}
