// lab_runs.h -- what the tests of ./lab share: a folder of a student's files, and runs of the
// program over it. Not here: what the grader does (test_grade.c).
#ifndef TESTS_EXERCISES_LAB_LAB_RUNS_H
#define TESTS_EXERCISES_LAB_LAB_RUNS_H

#include "tests/helpers/run_program.h"

// A new folder with the skeletons; its path. The test that made it removes it at its end.
const char *lab_folder(void);
void lab_folder_remove(void);
// The same without code, which only costs time where text is tested.
const char *lab_text_folder(void);

void lab_put(const char *name, const char *text);  // a file in the folder
void lab_copy(const char *from, const char *name); // the same, from a file of the project
void lab_solve(const char *number_and_name);       // "01_count_parameters": the solution
// by_hand.txt with what a student of that name and secret has to answer; "" is practice.
void lab_solve_by_hand(const char *secret, const char *student);
char *lab_take(const char *name); // its content, to be freed; fails without it

// ./lab with these arguments over the folder. Fails the test unless it ends with `status`, contains
// `part`, and has no line of more than 80 columns. What it printed, to be freed.
char *lab_run(const char *arguments, int status, const char *part);
// The same without --files.
char *lab_run_bare(const char *arguments, int status, const char *part);
// It has to refuse: `status`, and one line on standard error that contains both.
void lab_refused(const char *arguments, int status, const char *first, const char *second);

void lab_assert_in(const char *text, const char *part); // shows both where it is not

#endif
