// grade_parts.h -- internal to grading: declarations shared by grade.c (order), grade_case.c (ends,
// points), grade_worker.c (code) and grade_text.c (answers by hand).
#ifndef EXERCISES_GRADER_GRADE_PARTS_H
#define EXERCISES_GRADER_GRADE_PARTS_H

#include "exercises/course/answers.h"
#include "exercises/grader/build.h"
#include "exercises/grader/confine.h"
#include "exercises/grader/grade.h"
#include "exercises/grader/judge.h"

typedef struct Grading { // the grading of one submission
    const GradeOptions *options;
    const Exercise *exercise; // the current exercise
    const BuildOrder *order;  // the build order of its worker
    Build *build;             // the build of its worker; NULL: nothing is built
    const char *const *shut;  // paths that no program may read
    unsigned without;         // confinement layers to leave out
    unsigned layers;          // confinement layers that every worker so far had
    int at_once;              // number of workers at a time
} Grading;

// Ends a case for a reason other than a value; `format` makes its detail.
void case_end(CaseResult *result, CaseState state, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// Ends a case with the pending error as its detail. Returns only STATUS_OUT_OF_MEMORY or STATUS_OK.
Status case_fail(CaseResult *result);
// Ends a case with a verdict on run `index`, which becomes result->asked.
Status case_judged(CaseResult *result, const Verdict *verdict, const CaseRun *run, int index);

void case_free(CaseResult *result);

// Withholds the points of cases whose needed case did not pass, and then of cases that need these.
void points_withhold(ExerciseResult *result);
void points_add(ExerciseResult *result);
void points_add_exercise(GradeResult *result, const ExerciseResult *one);

// The text of the file ExerciseCase.beside, owned. NULL: the case has no such file, or the file is
// missing, and the case ends as MISSING.
char *case_beside(const Grading *grading, CaseResult *result);

// A worker for one case; several may run at a time. A job that was begun must be finished. The
// state GRADER_FAILED means that the case has not ended yet.
typedef struct Job Job;
Status job_begin(Grading *grading, CaseResult *result, Job **job);
const Confined *job_run(const Job *job); // the program to serve; NULL: none
Status job_finish(Grading *grading, Job *job);

// Grades a case that is answered in a text file.
Status case_answered(const Grading *grading, const Answers *answers, CaseResult *result);

#endif
