// work_folder.c -- makes the folder, runs a shell in it, removes it and nothing else.
#include "tests/helpers/work_folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/helpers/harness.h"
#include "tests/helpers/run_program.h"

enum { COMMANDS = 8192 };

char work_folder[32];

void work_folder_begin(void) {
    strcpy(work_folder, "/tmp/work-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(work_folder));
}

void work_folder_run(const char *commands) {
    char whole[COMMANDS];
    int length =
        snprintf(whole, sizeof whole, "set -e; not() { if \"$@\"; then return 1; fi; }; cd %s\n%s",
                 work_folder, commands);
    ck_assert_int_lt(length, COMMANDS);
    program_names();
    ck_assert_msg(system(whole) == 0, "%s", commands);
}

void work_folder_end(void) {
    char command[64];
    ck_assert_int_eq(strncmp(work_folder, "/tmp/work-", 10), 0);
    ck_assert_uint_eq(strlen(work_folder), 16);
    snprintf(command, sizeof command, "rm -r '%s'", work_folder);
    ck_assert_int_eq(system(command), 0);
}
