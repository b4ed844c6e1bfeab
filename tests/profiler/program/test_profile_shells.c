// test_profile_shells.c -- the prints of --completion and --man, checked against the help, bash,
// zsh and mandoc: their actual readers.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/helpers/harness.h"
#include "tests/helpers/run_program.h"
#include "tests/helpers/work_folder.h"

static const char *const programs[] = {"profile_mlp", "profile_model"};

static ProgramRun print(const char *program, const char *arguments) {
    ProgramRun got = program_run(program_path(program), arguments, PROGRAM_CAPTURED);
    ck_assert_msg(got.status == 0 && !got.err[0], "%s", got.err);
    return got;
}

static bool found(const char *program) {
    char command[100];
    snprintf(command, sizeof command, "command -v %s >/dev/null", program);
    return system(command) == 0;
}

// Writes the scripts as `bash` and `_profile_model`, and the page as `page`, to the work folder.
static void begin(const char *program) {
    static const char *const prints[][2] = {{"--completion bash", "bash"},
                                            {"--completion zsh", ""},
                                            {"--man", "page"}};
    work_folder_begin();
    for (int i = 0; i < 3; i++) {
        char path[100];
        snprintf(path, sizeof path, "%s/%s%s", work_folder, i == 1 ? "_" : "",
                 i == 1 ? program : prints[i][1]);
        ProgramRun got = print(program, prints[i][0]);
        FILE *file = fopen(path, "w");
        ck_assert(file && fputs(got.out, file) >= 0 && fclose(file) == 0);
        program_run_free(&got);
    }
}

// ---- every flag --------------------------------------------------------------------------------
START_TEST(all_that_help_lists_is_in_each_of_them) {
    static const char *const prints[] = {"--completion bash", "--completion zsh", "--man"};
    static const char *const before[] = {"--", "--", "\n\\fB\\-\\-"};
    static const char *const after[] = {" ", "[", "\\fR"};
    const char *program = programs[_i % 2];
    ProgramRun help = print(program, "--help all"), got = print(program, prints[_i / 2]);
    int flags = 0;
    for (const char *at = help.out; (at = strstr(at, "\n  --")); flags++) {
        char want[100] = "", name[40];
        at += strlen("\n  --");
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at, " \n"), at);
        snprintf(want, sizeof want, "%s", before[_i / 2]);
        for (const char *c = name; *c; c++) // a page escapes its dashes
            snprintf(want + strlen(want), sizeof want - strlen(want), "%s%c",
                     *c == '-' && _i / 2 == 2 ? "\\" : "", *c);
        snprintf(want + strlen(want), sizeof want - strlen(want), "%s", after[_i / 2]);
        ck_assert_msg(strstr(got.out, want), "%s is not there:\n%s", want, got.out);
    }
    ck_assert_int_gt(flags, 50);
    program_run_free(&help);
    program_run_free(&got);
}
END_TEST

// ---- bash --------------------------------------------------------------------------------------
static const struct {
    const char *typed, *offered; // typed words; start of the list of choices
} cases[] = {
    {"--opti", "--optimizer "},
    {"--optimizer ada", "adam adamw "},
    {"--device = c", "cpu cuda "}, // bash splits --device=c so
    {"--device =", "cpu cuda meta "},
    {"--peaks h200", "h200-bf16 h200-fp32 "},
    {"--completion ''", "bash zsh "},
    {"--batch ''", ""},
    {"resnet1", "resnet101 resnet152 resnet18 "},
    {"--json with", "with space "},
    {"with", "with space "},
};
enum { CASES = sizeof cases / sizeof cases[0] };

START_TEST(bash_offers_what_there_is) {
    char commands[1000];
    if (!found("bash")) test_skip("bash is not installed");
    begin("profile_model");
    snprintf(
        commands, sizeof commands,
        "touch 'with space'; cat >try <<'end'\n"
        "set -u; . ./bash; COMP_WORDS=(profile_model %s) COMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n"
        "_profile_model; printf '%%s\\n' \"${COMPREPLY[@]}\" | LC_ALL=C sort | tr '\\n' ' '\n"
        "end\n"
        "bash try >got; cat got; printf '%%s' '%s' >want\n"
        "test \"$(sed 's/^ $//' got)\" = \"$(cat want)\"",
        cases[_i].typed, cases[_i].offered);
    work_folder_run(commands);
    work_folder_end();
}
END_TEST

// ---- zsh ---------------------------------------------------------------------------------------
// Types into a zsh with a terminal of its own, and presses tab twice; ^U erases the line.
START_TEST(zsh_completes_what_is_begun) {
    if (!found("zsh")) test_skip("zsh is not installed");
    begin("profile_model");
    work_folder_run(
        "cat >try <<'end'\n"
        "zmodload zsh/zpty; zpty z zsh -f -i\n"
        "until_seen() {\n"
        "    local all= piece i\n"
        "    for i in {1..200}; do\n"
        "        while zpty -r -t z piece; do all+=$piece; done\n"
        "        [[ $all == *$1* ]] && return 0; sleep 0.05\n"
        "    done\n"
        "    print -r -- \"no $1 in $all\"; exit 1\n"
        "}\n"
        "zpty -w z 'autoload -U compinit; fpath=($PWD $fpath); compinit -u -D'\n"
        "zpty -w z 'LISTMAX=1000; echo re''ady'; until_seen ready\n"
        "begin() { zpty -w -n z $'\\x15'\"profile_model $1\"$'\\t\\t'; until_seen $2 }\n"
        "begin '--optimizer adam' adamw\n"
        "begin '--device me' meta\n"
        "begin resnet1 resnet152\n"
        "begin '--peaks h200-' h200-fp32\n"
        "begin '--optim' --optimizer\n"
        "end\n"
        "zsh -n _profile_model; zsh -f try");
    work_folder_end();
}
END_TEST

// ---- the page ----------------------------------------------------------------------------------
START_TEST(the_page_is_one_to_those_who_format_it) {
    begin(programs[_i]);
    if (!found("mandoc") && !found("groff")) test_skip("neither mandoc nor groff is installed");
    work_folder_run(
        "if command -v mandoc; then mandoc -T lint page | grep -v 'STYLE\\|missing date' >said || "
        "true\n"
        "mandoc -T ascii page >text; else groff -man -ww -Tascii page >text 2>said; fi\n"
        "cat said; not test -s said\n"
        "col -b <text >plain\n"
        "for part in NAME SYNOPSIS OPTIONS 'EXIT STATUS' ENVIRONMENT EXAMPLES; do\n"
        "    grep -q \"^$part\" plain\n"
        "done\n"
        "grep -q -- '--time-limit TIME' plain\n"
        "grep -q -- \"'batch = 256'\" plain");
    work_folder_end();
}
END_TEST

START_TEST(a_shell_that_is_none_is_refused) {
    ProgramRun got =
        program_run(program_path("profile_mlp"), "--completion fish", PROGRAM_CAPTURED);
    ck_assert_int_eq(got.status, 2);
    ck_assert_str_eq(got.err, "profile_mlp: --completion fish: expected bash or zsh\n");
    program_run_free(&got);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {{all_that_help_lists_is_in_each_of_them, 6},
                                 {bash_offers_what_there_is, CASES},
                                 {zsh_completes_what_is_begun, 0},
                                 {the_page_is_one_to_those_who_format_it, 2},
                                 {a_shell_that_is_none_is_refused, 0},
                                 {NULL, 0}};
    return harness_main("profile_shells", tests);
}
