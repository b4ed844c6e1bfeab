// folder_runs.h -- the profiler's programs as one types them, over files in the test's folder
// (work_folder.h). In all arguments "%s", three times at most, is that folder.
#ifndef TESTS_HELPERS_FOLDER_RUNS_H
#define TESTS_HELPERS_FOLDER_RUNS_H

#include "tests/helpers/run_program.h"

ProgramRun folder_run(const char *program, const char *arguments);

// What it prints, free it. Fails the test unless it ends with `status`, no line is wider than 80
// columns, and standard error has `err` in it, or nothing where that is NULL.
char *folder_text(const char *program, const char *arguments, int status, const char *err);
void expect_part(const char *text, const char *part); // of such a text

// The same of profile_mlp, printing `out` (NULL: whatever), and on standard error one line at most.
void folder_expect(const char *arguments, int status, const char *out, const char *err);

typedef struct Refusal {
    const char *arguments;
    int status;
    const char *says;    // in its one line on standard error
    const char *program; // NULL: profile_mlp
} Refusal;

// Each ends with its status after that one line and nothing on standard output. Fails the test with
// all of those that do not.
void expect_refusals(const Refusal table[], int n);

#endif
