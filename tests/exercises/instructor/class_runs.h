// class_runs.h -- shared by the tests of the instructor's program: a folder with a class in it, a
// small script in place of the lab program, and runs over them (work_folder.h has the folder).
#ifndef TESTS_EXERCISES_INSTRUCTOR_CLASS_RUNS_H
#define TESTS_EXERCISES_INSTRUCTOR_CLASS_RUNS_H

#include "tests/helpers/run_program.h"

// Makes a new folder with class/, empty, the stand-in lab, and calls, to which each of its runs
// adds a line. The test removes it with work_folder_end.
void class_begin(void);

// Path of this build's instructor program; free it.
const char *instructor_path(void);
ProgramRun class_instructor(const char *command, const char *rest);
// Expects one line on standard error with the program's name and `what`. Frees the run.
void class_refused(ProgramRun *run, int status, const char *what);

// Grades class/ and returns the text of class.csv; free it.
char *class_grade(int status, const char *options);

void class_assert_in(const char *text, const char *wanted); // shows both on failure

#endif
