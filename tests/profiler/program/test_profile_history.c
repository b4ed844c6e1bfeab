// test_profile_history.c -- --history and --trend from outside, and files that are no history.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/helpers/folder_runs.h"
#include "tests/helpers/harness.h"
#include "tests/helpers/work_folder.h"

#define SMALL "--layers 20,10 --batch 8 --iterations 10 --epochs 0 --quiet "

START_TEST(a_history_grows_and_is_shown) {
    work_folder_begin();
    free(folder_text("profile_mlp", SMALL "--history %s/h.jsonl", 0, NULL));
    free(folder_text("profile_mlp", SMALL "--history %s/h.jsonl", 0, NULL));
    free(folder_text("profile_mlp", "--device meta --quiet --history %s/h.jsonl", 0, NULL));
    free(folder_text("profile_mlp", "--device meta --fuse --quiet --history %s/h.jsonl", 0, NULL));
    char *text = folder_text("profile_mlp", "--history %s/h.jsonl --trend", 0, NULL);
    expect_part(text, "TREND  4 entries");
    expect_part(text,
                "\n  profile_mlp --layers 20,10 --batch 8 --iterations 10 --epochs 0; MLP 20-10");
    expect_part(text, "\n    step       ");
    expect_part(text, "\n    FLOPs      ");
    free(text);
    text = folder_text("profile_model", "--trend --history %s/h.jsonl", 0, NULL); // no network
    expect_part(text, "TREND  4 entries");
    free(text);
    work_folder_run("[ $(wc -l < h.jsonl) = 4 ]\n"
                    "[ $(grep -c '\"runs\": \\[[^],]*\\(,[^],]*\\)\\{4\\}\\]' h.jsonl) = 2 ]\n");
    work_folder_end();
}
END_TEST

START_TEST(what_is_no_history_is_one_line) {
    static const Refusal refused[] = {
        {"--history /dev/null", 3, "it is no file that grows", NULL},
        {"--history -", 2, "--history: expected a file, to which a line is added", NULL},
        {"--history=", 2, "--history: expected a file, to which a line is added", NULL},
        {"--history %s/h --json %s/h", 2, "writes this file; name another", NULL},
        {"--history %s/none --trend", 3, "none: No such file", NULL},
        {"--history /none/h", 3, "/none/h", NULL},
        {"--history %s/notes", 3, "notes: line 1: not JSON", NULL}, // refused before measuring
        {"--history %s/notes --trend", 3, "notes: line 1: not JSON", NULL},
    };
    work_folder_begin();
    work_folder_run("printf 'my notes\\nand more' > notes\ncp notes before\n");
    expect_refusals(refused, sizeof refused / sizeof refused[0]);
    work_folder_run("cmp notes before\n");
    work_folder_end();
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {a_history_grows_and_is_shown, 0},
        {what_is_no_history_is_one_line, 0},
        {NULL, 0},
    };
    return harness_main("profile_history", tests);
}
