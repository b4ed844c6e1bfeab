// run_program.h -- runs a program as a user would, and collects its two streams and exit status.
#ifndef TESTS_HELPERS_RUN_PROGRAM_H
#define TESTS_HELPERS_RUN_PROGRAM_H

typedef enum ProgramOutput { // destination of the program's standard output
    PROGRAM_CAPTURED,
    PROGRAM_FULL_DISK,  // /dev/full
    PROGRAM_NO_READER,  // a pipe that nobody reads: writing raises SIGPIPE
    PROGRAM_DEAF_TO_IT, // such a pipe with SIGPIPE ignored: writing fails with EPIPE
} ProgramOutput;

typedef struct ProgramRun {
    const char *program; // its name without folders: points into the path it was called by
    int status;          // exit status; 128 + the number of the signal that ended it
    char *out, *err;     // captured text, zero-terminated; out is "" unless captured
} ProgramRun;

// Runs the program with `arguments`, split at single spaces, and an empty input. Neither stream is
// a terminal. Fails the test when it does not end in time (harness_patience of 15 seconds).
ProgramRun program_run(const char *program, const char *arguments, ProgramOutput output);
void program_run_free(ProgramRun *run);

// Fails the test unless the run ended with `status` after one line on standard error that starts
// with the program's name and contains both texts. Frees the run.
void program_check_refusal(ProgramRun *run, int status, const char *first, const char *second);

// A command line that the program refuses with one such line.
typedef struct ProgramRefusal {
    const char *arguments, *first, *second;
    int status;
} ProgramRefusal;
void program_refuses(const char *program, const ProgramRefusal *refusal);

// Path of a program of this build: in the root for build/normal, else in the build's own folder.
const char *program_path(const char *name);
// Puts this build's programs on the PATH of this process and of its children: a path in a shell's
// text would need quotes, since the name of a checkout may contain blanks.
void program_names(void);

int program_count_lines(const char *text); // -1 unless each ends in a newline
// Fails the test where a line has more than 80 columns, or a space at its end.
void program_check_columns(const char *text);

#endif
