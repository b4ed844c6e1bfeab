// build_trial.h -- for tests of building: one student's file, built alone (alone.h), and the
// result.
#ifndef TESTS_EXERCISES_GRADER_BUILD_TRIAL_H
#define TESTS_EXERCISES_GRADER_BUILD_TRIAL_H

#include "exercises/grader/build.h"
#include "tests/helpers/harness.h"

// Runs the tests alone; skips trials if that is impossible.
int trial_main(const char *topic, const HarnessTest tests[]);

typedef struct Trial {
    Exercise exercise;
    char folder[64];
    BuildOrder order;
    Build build;
} Trial;

// Begins a trial of exercise `number` ("90": the tests' own) with this text (NULL: no file). The
// order may be changed before trial_make.
void trial_begin(Trial *trial, const char *number, const char *text);
void trial_make(Trial *trial);
void trial_end(Trial *trial);
const char *trial_path(const Trial *trial); // path of the student's file

// A whole trial. `detail` must occur in the result's detail, and `output` (if any) in its output.
void trial_check(const char *number, const char *text, BuildEnd end, const char *detail,
                 const char *output);

#endif
