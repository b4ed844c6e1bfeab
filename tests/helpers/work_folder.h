// work_folder.h -- a folder of a test's own in /tmp, and commands that run in it.
#ifndef TESTS_HELPERS_WORK_FOLDER_H
#define TESTS_HELPERS_WORK_FOLDER_H

extern char work_folder[32]; // its path

void work_folder_begin(void);
void work_folder_run(const char *commands); // of the shell; fails the test unless all succeed
void work_folder_end(void);

#endif
