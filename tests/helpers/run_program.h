// run_program.h -- runs a program as a user would: arguments in; its two streams and its end out.
#ifndef TESTS_HELPERS_RUN_PROGRAM_H
#define TESTS_HELPERS_RUN_PROGRAM_H

typedef enum ProgramOutput { // where its standard output leads
    PROGRAM_CAPTURED,
    PROGRAM_FULL_DISK,  // /dev/full
    PROGRAM_NO_READER,  // a pipe that nobody reads any more: writing raises SIGPIPE
    PROGRAM_DEAF_TO_IT, // the same, and SIGPIPE ignored: writing fails with EPIPE
} ProgramOutput;

typedef struct ProgramRun {
    const char *program; // its name, without folders: borrowed from the path it was called by
    int status;          // exit status; 128 + the number of the signal that ended it
    char *out, *err;     // what it wrote, each ending in a zero; out is "" unless captured
} ProgramRun;

// Runs it with `arguments`, split at single spaces, and nothing to read. Neither stream is a
// terminal. Fails the test when it does not end in time (harness_patience of 15 seconds).
ProgramRun program_run(const char *program, const char *arguments, ProgramOutput output);
void program_run_free(ProgramRun *run);

// Fails the test unless the run ended with `status` after one line on standard error that says who
// complains and mentions both. Frees the run.
void program_check_refusal(ProgramRun *run, int status, const char *first, const char *second);

// A command line that gets no further than such a line.
typedef struct ProgramRefusal {
    const char *arguments, *first, *second;
    int status;
} ProgramRefusal;
void program_refuses(const char *program, const ProgramRefusal *refusal);

// The program of this build: in the root for build/normal, else in the build's own folder.
const char *program_path(const char *name);
// From here on this process, and what it starts, find the programs of this build by their names: a
// path in a shell's text would need its quotes, for a checkout may have blanks in its name.
void program_names(void);

int program_count_lines(const char *text); // every line ends in a newline, or -1
// Fails the test where a line has more than 80 columns, or a space at its end.
void program_check_columns(const char *text);

#endif
