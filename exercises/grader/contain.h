// contain.h -- runs a program that nobody trusts: limits, a deadline, a clean environment, its own
// process group, another user where possible; and afterwards nothing of it is left. It does not
// know what the program is (compiler or worker), nor what its output means.
#ifndef EXERCISES_GRADER_CONTAIN_H
#define EXERCISES_GRADER_CONTAIN_H

#include <stddef.h>
#include <stdint.h>

#include "tensor/status.h"

typedef enum ContainLayer { // which protections are active: bits; every result names them
    LAYER_LIMITS = 1,       // rlimits, deadline, output cap: always
    LAYER_GROUP = 2,        // own session, subreaper: whatever it started is ended
    LAYER_USER = 4,         // another uid: only when the grader is root, who runs nothing without
    LAYER_SECCOMP = 8,      // system calls by a list: a worker's, nothing else gets far with it
    LAYER_NAMESPACE = 16,   // no network, no other processes, all files read-only
} ContainLayer;
unsigned contain_layers(void); // what this machine and user allow
char *contain_layers_text(unsigned layers, char *text, size_t size); // "limits, group, user"

typedef struct ContainLimits {
    double wall_seconds, cpu_seconds;
    int64_t memory_bytes; // of address space; 0: no limit (AddressSanitizer needs none)
    int64_t file_bytes;   // that it may write to any one file; 0: to none
    int64_t output_bytes; // of standard output and error together, and of descriptor 3
    int processes;        // that may be alive at once, 1: it may not fork; as our own user only 1
                          // is a limit
} ContainLimits;

typedef struct ContainCommand {
    const char *const *argv; // argv[0] is a path
    const char *directory;   // where it runs, NULL: /; of contain_directory_new's it may write to
                             // it where file_bytes allows files, and what it made is ours after it
    const void *input;       // for its standard input
    size_t input_bytes;
    ContainLimits limits;
    unsigned without; // layers to leave out: for the grader's own tests
} ContainCommand;

typedef enum ContainEnd {
    CONTAIN_EXITED,        // code: exit status
    CONTAIN_CRASHED,       // code: signal
    CONTAIN_TIMED_OUT,     // past its wall or CPU seconds
    CONTAIN_FLOODED,       // more output than it may
    CONTAIN_OUT_OF_MEMORY, // only where it can be told
    CONTAIN_FORBIDDEN,     // a system call that is not on the list
} ContainEnd;

typedef struct ContainResult {
    ContainEnd end;
    int code;
    char *values; // descriptor 3, owned
    size_t values_bytes;
    char *output;  // standard output and error, cut and cleaned (text_clean), owned
    int leftovers; // processes and files that had to be removed; what ended with its namespace is
                   // not counted
    double seconds;
    unsigned layers; // that were active
} ContainResult;

// Begins to run a program; several may run at once. Finishing waits for its end, and frees `run`.
// STATUS_OK whatever the program did; else the grader could not run it (error pending), and *result
// is safe to free. A run that was begun must be finished.
typedef struct ContainRun ContainRun;
Status contain_begin(const ContainCommand *command, ContainRun **run);
Status contain_finish(ContainRun *run, ContainResult *result);
Status contain_run(const ContainCommand *command, ContainResult *result); // both
void contain_result_free(ContainResult *result);

// What removes files removes only what is safe to: what lies in a folder made here, by
// contain_directory_new, or belongs to a user of the range below; it opens folders and unlinks what
// is in them, never follows a link, and never takes a path together from parts.
enum { CONTAIN_FIRST_USER = 61184, CONTAIN_USERS = 64 }; // uids that nobody has

// A new directory, TMPDIR or /tmp with "ridgepoint-" and a random name, that only the contained
// user (and root) can enter; removed with all in it. Any other path is refused.
Status contain_directory_new(char *path, size_t size);
Status contain_directory_remove(const char *path);

// Makes bytes harmless for every reader: invalid UTF-8 and control characters become '?' (newline
// and tab stay). In place.
void text_clean(char *text);

#endif
