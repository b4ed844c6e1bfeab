// confine_parts.h -- internal to confinement: a running program, the steps between fork and exec,
// and the files that it may read, execute and write, as rules for Landlock or bubblewrap.
#ifndef EXERCISES_GRADER_CONFINE_PARTS_H
#define EXERCISES_GRADER_CONFINE_PARTS_H

#include <sys/resource.h>
#include <sys/types.h>

#include "exercises/grader/confine.h"

// ---- between fork and exec: confine_enter.c ----------------------------------------------------
enum { CONFINE_CHANNEL = 3 }; // the descriptor on which a program is heard

typedef struct Entry { // decided before the fork
    const ConfineOrder *order;
    unsigned layers;
    uid_t account; // uid and gid for LAYER_ACCOUNT
    pid_t parent;
    int output, channel;    // the child's ends; channel -1: none
    int failed;             // pipe that reports a failure to the parent; closed by exec
    int nothing;            // /dev/null
    const char *bubblewrap; // path of bubblewrap for LAYER_BUBBLEWRAP
} Entry;

typedef struct EntryFailure { // sent through `failed`
    char step[32];
    int error;
} EntryFailure;

// Call these two in a child of _Fork, which has no threads and no held locks of its parent.
_Noreturn void entry_exec(const Entry *entry);
const char *entry_become(uid_t account); // for good; NULL, or the step that failed

// ---- while it runs: confine_watch.c ------------------------------------------------------------
enum { PATIENCE = 4 }; // wall deadlines granted to a program that gets no processor

struct Confined {
    pid_t pid;
    int handle;                  // pidfd of the process; -1: this kernel has none, so we poll
    int output, channel, failed; // our ends of the pipes; -1: closed
    ConfineLimits limits;
    ConfineHear *hear;
    void *argument;
    unsigned layers;
    double begun, deadline, ended_at;
    char *bytes; // output so far, owned
    size_t count;
    bool ended, timed_out, flooded, unheard, starved;
    int status;
    struct rusage use;
    EntryFailure failure; // step "": none
};

// Ends the program and its whole session, and reads its remaining output.
void watch_end(Confined *run);

// ---- files: grants.c ---------------------------------------------------------------------------
int landlock_version(void); // version in the kernel; 0: none
// Makes a ruleset of the order's grants, with paths relative to the current folder; -1 and errno.
int landlock_make(const ConfineOrder *order);

// The path of bubblewrap if it works, tested once; else NULL.
const char *bubblewrap_path(void);
// Makes the command line that runs the order's program in a view of its granted files. `filter`: a
// descriptor, -1: none. The words belong to the order or are static.
enum { BUBBLEWRAP_MOST_WORDS = 160 };
void bubblewrap_words(const ConfineOrder *order, const char *path, int filter,
                      char *words[BUBBLEWRAP_MOST_WORDS]);

// STATUS_INVALID_ARGUMENT if a grant contains one of order->shut.
Status grants_check(const ConfineOrder *order);

#endif
