// folder_runs.h -- runs the profiler's programs, as a user types them, on files in the test's
// folder (work_folder.h). In all arguments "%s", three times at most, stands for that folder.
#ifndef TESTS_HELPERS_FOLDER_RUNS_H
#define TESTS_HELPERS_FOLDER_RUNS_H

#include "tests/helpers/run_program.h"

ProgramRun folder_run(const char *program, const char *arguments);

// The program's standard output; free it. Fails the test unless the program ends with `status`, no
// line is wider than 80 columns, and standard error contains `err` (if NULL: is empty).
char *folder_text(const char *program, const char *arguments, int status, const char *err);
void expect_part(const char *text, const char *part); // fails unless text has part

// Runs profile_mlp, which must print `out` (NULL: anything) and at most one line on standard error.
void folder_expect(const char *arguments, int status, const char *out, const char *err);

typedef struct Refusal {
    const char *arguments;
    int status;
    const char *says;    // text in the one line on standard error
    const char *program; // NULL means profile_mlp
} Refusal;

// Each program must end with its status after that one line, with nothing on standard output. Fails
// the test with a list of all that do not.
void expect_refusals(const Refusal table[], int n);

#endif
