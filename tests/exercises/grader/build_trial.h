// build_trial.h -- for tests of building: one student's file, built alone (alone.h), and what came
// of it.
#ifndef TESTS_EXERCISES_GRADER_BUILD_TRIAL_H
#define TESTS_EXERCISES_GRADER_BUILD_TRIAL_H

#include "exercises/grader/build.h"
#include "tests/helpers/harness.h"

// Runs the tests alone; a trial is skipped where that cannot be had.
int trial_main(const char *topic, const HarnessTest tests[]);

typedef struct Trial {
    Exercise exercise;
    char folder[64];
    BuildOrder order;
    Build build;
} Trial;

// Of exercise `number` ("90": the tests' own) with this text, NULL: without a file. Change what is
// ordered before trial_make, if wanted.
void trial_begin(Trial *trial, const char *number, const char *text);
void trial_make(Trial *trial);
void trial_end(Trial *trial);
const char *trial_path(const Trial *trial); // of the student's file

// All of it. `detail` is a part of it; of `output`, too, unless NULL.
void trial_check(const char *number, const char *text, BuildEnd end, const char *detail,
                 const char *output);

#endif
