// confine.h -- runs an untrusted program for any caller: the program may read only granted files
// and write in one folder or nowhere; a worker may not start processes. It ends with its parent and
// at its deadline. The caller hears its output on descriptor 3 while it runs. This code does not
// know the program's purpose, and never signals or removes anything but its own children.
//
//     ConfineOrder order = {.argv = argv, .folder = room.descriptor, .kind = CONFINE_COMPILER};
//     Confined *run;
//     confine_begin(&order, &run);
//     confine_serve(&run, 1); // until the program has ended
//     confine_finish(run, &result);
#ifndef EXERCISES_GRADER_CONFINE_H
#define EXERCISES_GRADER_CONFINE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tensor/status.h"

typedef enum ConfineLayer { // bits for the active protections; every result names them
    LAYER_LIMITS = 1,       // rlimits, deadline, output cap, a session of its own: always
    LAYER_ACCOUNT = 2,      // no capability, the account `nobody`: only when the grader is root
    LAYER_CALLS = 4,        // a filter of system calls (seccomp)
    LAYER_FILES = 8,        // a list of files (Landlock)
    LAYER_BUBBLEWRAP = 16,  // instead of Landlock: a view of the file system with these files alone
} ConfineLayer;
unsigned confine_layers(void); // layers that this machine supports; prefers Landlock
// Like confine_layers, leaving some out; bubblewrap, if present, replaces a Landlock left out.
unsigned confine_layers_but(unsigned without);
// True if the layers restrict both files and system calls, so that strangers' code may run.
bool confine_is_safe(unsigned layers);
char *confine_layers_text(unsigned layers, char *text, size_t size); // "limits, calls, files"

typedef enum ConfineKind {
    CONFINE_COMPILER,  // may start processes, and write in its folder
    CONFINE_WORKER,    // one process, which may create nothing
    CONFINE_SANITIZED, // a worker under AddressSanitizer, whose system calls fit no list
} ConfineKind;

typedef struct ConfineLimits {
    double wall_seconds, cpu_seconds;
    int64_t memory_bytes; // of address space; 0: no limit (AddressSanitizer needs none)
    int64_t file_bytes;   // size of any one file
    int64_t output_bytes; // standard output and error together
} ConfineLimits;

// Receives output on descriptor 3 as it comes. False: end the program.
typedef struct Confined Confined;
typedef bool ConfineHear(void *argument, Confined *run, const char *bytes, size_t count);

typedef struct ConfineOrder {
    const char *const *argv;  // argv[0] is a path, may be relative to the folder
    int folder;               // folder in which it runs; CONFINE_COMPILER may write there
    const char *const *reads; // files and folders that it may read and execute; NULL at the end.
                              // Missing ones are left out
    const char *const *shut;  // paths that no grant may contain, else an error
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
    CONFINE_OUT_OF_MEMORY, // only if this is recognisable
    CONFINE_FORBIDDEN,     // a system call that is not on the list
    CONFINE_UNHEARD,       // `hear` returned false
    CONFINE_MACHINE,       // code: a signal from outside; 0: it did not get the processor
} ConfineEnd;

typedef struct ConfineResult {
    ConfineEnd end;
    int code;
    char *output; // standard output and error, cut and cleaned (text_clean), owned
    unsigned layers;
} ConfineResult;

// Begins to run a program. On a failure, which is the machine's, an error is pending and *run NULL.
Status confine_begin(const ConfineOrder *order, Confined **run);
// Serves all of these programs (hears, answers, watches) until at least one of them has ended.
void confine_serve(Confined *const runs[], int count);
bool confine_ended(const Confined *run);
// Sends bytes to the program's descriptor 3; false: the program does not take them.
bool confine_say(Confined *run, const void *bytes, size_t count);
// Ends the program if it still runs, and frees it. STATUS_OK whatever the program did; another
// status, pending, if it could not be started. *result is safe to free.
Status confine_finish(Confined *run, ConfineResult *result);
Status confine_run(const ConfineOrder *order, ConfineResult *result); // begins, serves, finishes

void confine_result_free(ConfineResult *result);

// Until confine_release, a signal that would end this process (Ctrl-C, SIGTERM, SIGHUP, SIGQUIT)
// only ends every program at once, so that the caller can remove its files; confine_release then
// delivers the signal. One hold at a time.
typedef struct ConfineHold {
    struct sigaction before[4];
} ConfineHold;
void confine_hold(ConfineHold *hold);
bool confine_is_called_off(void); // true after such a signal
void confine_release(const ConfineHold *hold);

#endif
