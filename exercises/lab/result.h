// result.h -- a grade as the other formats need it: each of them is made from this and from nothing
// else.
#ifndef EXERCISES_LAB_RESULT_H
#define EXERCISES_LAB_RESULT_H

#include "exercises/grader/grade.h"

enum { RESULT_NAME = 64 };

typedef struct ResultCase {
    char exercise[RESULT_NAME]; // "02 count_flops"
    char name[RESULT_NAME];     // "linear_512_b64"
    CaseState state;
    int points, most;
    bool hidden, stretch;
    char mistake[RESULT_NAME]; // ""
    char *output;              // what a student reads about it, owned; "": it passed
} ResultCase;

typedef struct Result {
    char student[RESULT_NAME];
    int points, most, stretch_points;
    double seconds;
    ResultCase *cases; // owned, in the order of the exercises
    int n_cases;
} Result;

// *result is the caller's; result_free, also after a failure.
Status result_of(const GradeResult *grade, Result *result);
void result_free(Result *result);

// How a case ends in formats that know four ways.
typedef enum ResultVerdict {
    VERDICT_PASSED,
    VERDICT_FAILED,
    VERDICT_ERROR,
    VERDICT_SKIPPED
} ResultVerdict;
ResultVerdict result_verdict(const ResultCase *of_case);

#endif
