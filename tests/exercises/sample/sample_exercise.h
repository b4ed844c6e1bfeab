// sample_exercise.h -- the tests' own exercise, 90, and submissions to it: a folder with the
// student's file in it. sample_call.c is its worker's side.
#ifndef TESTS_EXERCISES_SAMPLE_SAMPLE_EXERCISE_H
#define TESTS_EXERCISES_SAMPLE_SAMPLE_EXERCISE_H

#include "exercises/grader/grade.h"

// `Status sample(int64_t n, int64_t *twice, double *half)`. Cases: values (3 runs, 2 points), error
// (needs values), hidden, hand (sample_hand = 42 in by_hand.txt), beside (reads extra.txt): 1 each.
extern const Exercise sample_exercise;
enum { SAMPLE_VALUES, SAMPLE_ERROR, SAMPLE_HIDDEN, SAMPLE_HAND, SAMPLE_BESIDE, SAMPLE_CASES };

// The grader's parts for building it: those of all exercises, and its own.
#define SAMPLE_PARTS "build/lab/tests"

// The beginning of a right function; it opens a brace.
#define SAMPLE_HEAD                                                                                \
    "#include <stdint.h>\n#include <stdlib.h>\n#include <stdio.h>\n#include <string.h>\n"          \
    "#include <unistd.h>\n#include \"exercises/ex90_sample.h\"\n"                                  \
    "Status sample(int64_t n, int64_t *twice, double *half) {\n"
#define SAMPLE_RIGHT                                                                               \
    "if (n < 0) return STATUS_INVALID_ARGUMENT;\n*twice = 2 * n; *half = 0.5 * (double)n;\n"       \
    "return STATUS_OK; }\n"

// Skips the test if the compiler of submissions has no AddressSanitizer.
void sample_needs_sanitizer(void);

typedef struct Submission {
    char folder[64];
    GradeResult result;
} Submission;

void submission_new(Submission *submission);
void submission_add(const Submission *submission, const char *name, const char *text);
// Options for grading the sample: practice, seed 0.
GradeOptions submission_options(const Submission *submission);
void submission_grade(Submission *submission, const GradeOptions *options);
void submission_free(Submission *submission);

// Makes a new submission with this file, and grades it.
void sample_grade(Submission *submission, const char *source);

#endif
