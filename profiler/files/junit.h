// junit.h -- results of tests as JUnit XML, in the dialect that all of Jenkins, GitLab and
// junitparser read. Not here: what is tested.
#ifndef PROFILER_FILES_JUNIT_H
#define PROFILER_FILES_JUNIT_H

#include "layers/files/whole_file.h"

typedef enum JunitVerdict { JUNIT_PASSED, JUNIT_FAILED, JUNIT_ERROR, JUNIT_SKIPPED } JunitVerdict;

typedef struct JunitCase {
    const char *suite, *name;
    JunitVerdict verdict;
    // Unless it passed: a word for how, a line for people, and all there is to read.
    const char *type, *output;
    char message[160];
} JunitCase;

typedef struct JunitCases { // those of one suite follow each other
    int n;
    void (*at)(const void *holder, int i, JunitCase *one);
    const void *holder;
} JunitCases;

void junit_write(WholeFile *file, const char *name, double seconds, const JunitCases *cases);

#endif
