// work_folder.h -- a folder of a test's own in /tmp, and commands that run in it.
#ifndef TESTS_HELPERS_WORK_FOLDER_H
#define TESTS_HELPERS_WORK_FOLDER_H

extern char work_folder[32]; // its path

void work_folder_begin(void);
// Of the shell, which ends at the first that fails, and with it the test: but for "! command" and
// all but the last of "a && b", which it takes as questions. `not command` fails as others do.
// The programs of this build are there by their names.
void work_folder_run(const char *commands);
void work_folder_end(void);

#endif
