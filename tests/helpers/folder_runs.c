// folder_runs.c -- runs programs in the test's folder, and reports which of several went wrong.
#include "tests/helpers/folder_runs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/helpers/harness.h"
#include "tests/helpers/work_folder.h"

ProgramRun folder_run(const char *program, const char *arguments) {
    char all[3000];
    snprintf(all, sizeof all, arguments, work_folder, work_folder, work_folder);
    return program_run(program_path(program), all, PROGRAM_CAPTURED);
}

char *folder_text(const char *program, const char *arguments, int status, const char *err) {
    ProgramRun got = folder_run(program, arguments);
    ck_assert_msg(got.status == status, "%s: %d, %s %s", arguments, got.status, got.out, got.err);
    ck_assert_msg(err ? strstr(got.err, err) != NULL : !got.err[0], "%s: %s", arguments, got.err);
    if (status <= 1) program_check_columns(got.out);
    free(got.err);
    return got.out;
}

void expect_part(const char *text, const char *part) {
    ck_assert_msg(strstr(text, part) != NULL, "no \"%s\" in\n%s", part, text);
}

void folder_expect(const char *arguments, int status, const char *out, const char *err) {
    ProgramRun got = folder_run("profile_mlp", arguments);
    ck_assert_msg(got.status == status, "%s: %d, %s %s", arguments, got.status, got.out, got.err);
    ck_assert_msg(err ? strstr(got.err, err) && program_count_lines(got.err) == 1 : !got.err[0],
                  "%s: %s", arguments, got.err);
    program_check_columns(got.out);
    if (out) expect_part(got.out, out);
    program_run_free(&got);
}

// ---- refusals ----------------------------------------------------------------------------------
// True if the program printed one line that starts with its name, and nothing else.
static bool is_refused(const Refusal *refusal, const ProgramRun *got) {
    size_t name = strlen(got->program);
    return got->status == refusal->status && got->out[0] == '\0' &&
           program_count_lines(got->err) == 1 && strncmp(got->err, got->program, name) == 0 &&
           got->err[name] == ':' && strstr(got->err, refusal->says) != NULL;
}

void expect_refusals(const Refusal table[], int n) {
    char wrong[4000] = "";
    size_t used = 0;
    for (int i = 0; i < n; i++) {
        const char *program = table[i].program ? table[i].program : "profile_mlp";
        ProgramRun got = folder_run(program, table[i].arguments);
        if (!is_refused(&table[i], &got) && used < sizeof wrong)
            used += (size_t)snprintf(wrong + used, sizeof wrong - used,
                                     "\n%s %s: %d instead of %d, \"%s\" lacks \"%s\"%s", program,
                                     table[i].arguments, got.status, table[i].status, got.err,
                                     table[i].says, got.out[0] ? ", and there is output" : "");
        program_run_free(&got);
    }
    ck_assert_msg(used == 0, "%s", wrong);
}
