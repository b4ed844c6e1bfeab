// work_folder.h -- a folder of a test's own in /tmp, and commands that run in it.
#ifndef TESTS_HELPERS_WORK_FOLDER_H
#define TESTS_HELPERS_WORK_FOLDER_H

extern char work_folder[32]; // path of the folder

void work_folder_begin(void);
// Runs shell commands. The first that fails ends the shell and fails the test, except "! command"
// and all but the last of "a && b", which the shell takes as tests. `not command` fails as other
// commands do. The programs of this build can be called by name.
void work_folder_run(const char *commands);
void work_folder_end(void);

#endif
