// measure_driver.h -- compiles a file as a student's, runs an exercise's cases on it, and tells
// what a grade would say: for the tests of cases, solutions and mutants.
#ifndef TESTS_MEASURE_DRIVER_H
#define TESTS_MEASURE_DRIVER_H

#include "exercises/grader/exercise.h"

enum { VERDICT_CASES = 16 };

typedef struct Verdict {
    int points;
    bool passed[VERDICT_CASES];
    int first_failed; // case; -1: none
    Status status;    // that it returned there
    char mistake[64]; // the misconception that its value names; "": none
    char detail[600]; // input, value, expected, got
} Verdict;

typedef struct Student {
    const Exercise *exercise;
    char program[256]; // compiled
} Student;

// Fails the test when the file does not compile without warnings. The program lies in the folder of
// the build until student_remove.
void student_compile(Student *student, const Exercise *exercise, const char *source);
void student_remove(Student *student);
// All cases but those by hand, all runs, with the numbers of these seeds; verdicts[n].
void student_grade(const Student *student, uint64_t first_seed, int n, Verdict *verdicts);

// Mutant number `index` of the exercise, written to `path`; its misconception's name. False: there
// are no more.
bool mutant_write(const Exercise *exercise, int index, const char *path, char name[64]);

#endif
