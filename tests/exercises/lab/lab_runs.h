// lab_runs.h -- shared by the tests of ./lab: a folder of a student's files, and runs of the
// program over it. test_grade.c tests the grader.
#ifndef TESTS_EXERCISES_LAB_LAB_RUNS_H
#define TESTS_EXERCISES_LAB_LAB_RUNS_H

#include "tests/helpers/run_program.h"

// Makes a new folder with the skeletons; returns its path. The test removes it at its end.
const char *lab_folder(void);
void lab_folder_remove(void);
// Makes a folder without code, which would only cost time where texts are tested.
const char *lab_text_folder(void);

void lab_put(const char *name, const char *text);  // a file in the folder
void lab_copy(const char *from, const char *name); // copies a file of the project
void lab_solve(const char *number_and_name);       // "01_count_parameters": puts the solution
// Writes by_hand.txt with the right answers for a student of that name and secret; "" is practice.
void lab_solve_by_hand(const char *secret, const char *student);
char *lab_take(const char *name); // its content; free it; fails without the file

// Runs ./lab with these arguments over the folder. Fails the test unless it ends with `status`,
// prints `part`, and has no line of more than 80 columns. Returns the output; free it.
char *lab_run(const char *arguments, int status, const char *part);
// Runs ./lab without --files.
char *lab_run_bare(const char *arguments, int status, const char *part);
// Expects a refusal: `status`, and one line on standard error that contains both texts.
void lab_refused(const char *arguments, int status, const char *first, const char *second);

void lab_assert_in(const char *text, const char *part); // shows both on failure

#endif
