// class_runs.h -- what the tests of the instructor's program share: a folder with a class in it, a
// small script that stands for the lab program, and runs over them (work_folder.h has the folder).
#ifndef TESTS_EXERCISES_INSTRUCTOR_CLASS_RUNS_H
#define TESTS_EXERCISES_INSTRUCTOR_CLASS_RUNS_H

#include "tests/helpers/run_program.h"

// A new folder with class/, empty, the stand-in lab, and calls, to which each of its runs adds a
// line. The test that made it removes it: work_folder_end.
void class_begin(void);

// The instructor's program of this build, to be freed.
const char *instructor_path(void);
ProgramRun class_instructor(const char *command, const char *rest);
// One line on standard error, which says who complains and names `what`. Frees the run.
void class_refused(ProgramRun *run, int status, const char *what);

// Grades class/ and gives back class.csv, to be freed.
char *class_grade(int status, const char *options);

void class_assert_in(const char *text, const char *wanted); // shows both where it is not

#endif
