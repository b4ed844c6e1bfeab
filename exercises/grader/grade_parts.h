// grade_parts.h -- internal to grading: what grade.c (order), grade_case.c (ends, points),
// grade_worker.c (code) and grade_text.c (answers by hand) share.
#ifndef EXERCISES_GRADER_GRADE_PARTS_H
#define EXERCISES_GRADER_GRADE_PARTS_H

#include "exercises/course/answers.h"
#include "exercises/grader/build.h"
#include "exercises/grader/confine.h"
#include "exercises/grader/grade.h"
#include "exercises/grader/judge.h"

typedef struct Grading { // of one submission
    const GradeOptions *options;
    const Exercise *exercise; // the one at hand, and
    const BuildOrder *order;  // of its worker, and
    Build *build;             // that; NULL: nothing is built
    const char *const *shut;  // what no program may read
    unsigned without;         // layers of confinement
    unsigned layers;          // that every worker so far had
    int at_once;              // workers
} Grading;

// The end of a case that is not about a value; `format` makes its detail.
void case_end(CaseResult *result, CaseState state, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// The grader failed: takes the pending error as the detail. STATUS_OUT_OF_MEMORY comes back.
Status case_fail(CaseResult *result);
// A verdict on run `index`; that run becomes result->asked.
Status case_judged(CaseResult *result, const Verdict *verdict, const CaseRun *run, int index);

void case_free(CaseResult *result);

// A case whose sibling did not pass counts nothing; then what needs that case does not either.
void points_withhold(ExerciseResult *result);
void points_add(ExerciseResult *result);
void points_add_exercise(GradeResult *result, const ExerciseResult *one);

// The text of the case's file beside, owned; NULL without one: either the case has none, or it ends
// here, MISSING.
char *case_beside(const Grading *grading, CaseResult *result);

// A worker for one case: begun and finished, several at a time. A job that was begun has to be
// finished. A state of GRADER_FAILED says that the case has not ended yet.
typedef struct Job Job;
Status job_begin(Grading *grading, CaseResult *result, Job **job);
const Confined *job_run(const Job *job); // what has to be served; NULL: nothing
Status job_finish(Grading *grading, Job *job);

// A case that is answered in a text file.
Status case_answered(const Grading *grading, const Answers *answers, CaseResult *result);

#endif
