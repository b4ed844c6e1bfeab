// confine.h -- runs a program that nobody trusts, as whoever calls: it may read what it is granted,
// write in one folder or nowhere, and start no process where it is a worker; it ends with its
// parent and at its deadline. What it says on descriptor 3 is heard while it runs. It does not know
// what the program is for, and it never signals or removes anything but its own children.
//
//     ConfineOrder order = {.argv = argv, .folder = room.descriptor, .kind = CONFINE_COMPILER};
//     Confined *run;
//     confine_begin(&order, &run);
//     confine_serve(&run, 1); // until it has ended
//     confine_finish(run, &result);
#ifndef EXERCISES_GRADER_CONFINE_H
#define EXERCISES_GRADER_CONFINE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tensor/status.h"

typedef enum ConfineLayer { // which protections are active: bits; every result names them
    LAYER_LIMITS = 1,       // rlimits, deadline, output cap, a session of its own: always
    LAYER_ACCOUNT = 2,      // no capability, the account `nobody`: only when the grader is root
    LAYER_CALLS = 4,        // system calls by a filter (seccomp)
    LAYER_FILES = 8,        // files by a list, by Landlock, or
    LAYER_BUBBLEWRAP = 16,  // by a view of the file system that holds nothing else
} ConfineLayer;
unsigned confine_layers(void); // what this machine allows; Landlock before bubblewrap
// The same without these; where Landlock is left out, bubblewrap stands in for it if it is here.
unsigned confine_layers_but(unsigned without);
// Files are by a list and system calls by a filter: strangers' code may be run.
bool confine_is_safe(unsigned layers);
char *confine_layers_text(unsigned layers, char *text, size_t size); // "limits, calls, files"

typedef enum ConfineKind {
    CONFINE_COMPILER,  // may start its parts, and write in its folder
    CONFINE_WORKER,    // one process, which may create nothing
    CONFINE_SANITIZED, // a worker under AddressSanitizer, which makes calls that no list foresees
} ConfineKind;

typedef struct ConfineLimits {
    double wall_seconds, cpu_seconds;
    int64_t memory_bytes; // of address space; 0: no limit (AddressSanitizer needs none)
    int64_t file_bytes;   // of any one file
    int64_t output_bytes; // of standard output and error together
} ConfineLimits;

// What was said on descriptor 3, as it comes; false: more of it is not wanted, end the program.
typedef struct Confined Confined;
typedef bool ConfineHear(void *argument, Confined *run, const char *bytes, size_t count);

typedef struct ConfineOrder {
    const char *const *argv;  // argv[0] is a path, may be relative to the folder
    int folder;               // where it runs; of CONFINE_COMPILER all in it may be written
    const char *const *reads; // files and folders that it may read and execute; NULL at the end.
                              // What is not there is left out
    const char *const *shut;  // a grant that would contain one of these is an error
    ConfineKind kind;
    ConfineLimits limits;
    ConfineHear *hear; // NULL: descriptor 3 is closed
    void *argument;
    unsigned without; // layers to leave out: --disposable, and the grader's own tests
} ConfineOrder;

typedef enum ConfineEnd {
    CONFINE_EXITED,        // code: exit status
    CONFINE_CRASHED,       // code: signal
    CONFINE_TIMED_OUT,     // past its wall or CPU seconds
    CONFINE_FLOODED,       // more output than it may
    CONFINE_OUT_OF_MEMORY, // only where it can be told
    CONFINE_FORBIDDEN,     // a system call that is not on the list
    CONFINE_UNHEARD,       // hear returned false
    CONFINE_MACHINE,       // code: the signal from outside; 0: it was not given the processor
} ConfineEnd;

typedef struct ConfineResult {
    ConfineEnd end;
    int code;
    char *output; // standard output and error, cut and cleaned (text_clean), owned
    unsigned layers;
} ConfineResult;

// Begins to run a program. STATUS_OK, or the machine's fault, pending; then *run is NULL.
Status confine_begin(const ConfineOrder *order, Confined **run);
// Hears, answers and watches all of these until one of them has ended, if none has yet.
void confine_serve(Confined *const runs[], int count);
bool confine_ended(const Confined *run);
// To what listens on its descriptor 3; false: it does not take it.
bool confine_say(Confined *run, const void *bytes, size_t count);
// Ends it if it has not ended, and frees it. STATUS_OK whatever the program did; else it could not
// be started, and the error is pending. *result is safe to free.
Status confine_finish(Confined *run, ConfineResult *result);
Status confine_run(const ConfineOrder *order, ConfineResult *result); // all of it

void confine_result_free(ConfineResult *result);

// Until confine_release, what would end this process (Ctrl-C, SIGTERM, SIGHUP, SIGQUIT) only ends
// every program at once, so that what was made for them can be removed first; then it comes. One
// hold at a time.
typedef struct ConfineHold {
    struct sigaction before[4];
} ConfineHold;
void confine_hold(ConfineHold *hold);
bool confine_is_called_off(void); // one has come
void confine_release(const ConfineHold *hold);

#endif
