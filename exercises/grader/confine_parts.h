// confine_parts.h -- internal to confinement: a program that runs, what stands between fork and
// exec, and which files it may read, execute and write, said to Landlock or to bubblewrap.
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
    uid_t account; // LAYER_ACCOUNT: its uid and gid
    pid_t parent;
    int output, channel;    // the child's ends; channel -1: none
    int failed;             // tells the parent what could not be done; closed by exec
    int nothing;            // /dev/null
    const char *bubblewrap; // LAYER_BUBBLEWRAP: its path
} Entry;

typedef struct EntryFailure { // through `failed`
    char step[32];
    int error;
} EntryFailure;

// These two in a child of _Fork, which has none of its parent's threads and no lock that it held.
_Noreturn void entry_exec(const Entry *entry);
const char *entry_become(uid_t account); // for good; NULL, or what failed

// ---- while it runs: confine_watch.c ------------------------------------------------------------
enum { PATIENCE = 4 }; // deadlines that it may be kept from a processor

struct Confined {
    pid_t pid;
    int handle;                  // of the process; -1: this kernel has none, it is looked at
    int output, channel, failed; // our ends; -1: at their end
    ConfineLimits limits;
    ConfineHear *hear;
    void *argument;
    unsigned layers;
    double begun, deadline, ended_at;
    char *bytes; // of output, owned
    size_t count;
    bool ended, timed_out, flooded, unheard, starved;
    int status;
    struct rusage use;
    EntryFailure failure; // step "": none
};

// Ends it and all of its session, and takes in what it has left to say.
void watch_end(Confined *run);

// ---- files: grants.c ---------------------------------------------------------------------------
int landlock_version(void); // of the kernel; 0: there is none
// A ruleset of what the order grants, its paths seen from the current folder; -1 and errno.
int landlock_make(const ConfineOrder *order);

// The path of bubblewrap where it works, looked for once; NULL.
const char *bubblewrap_path(void);
// The command line that runs the order's program in a view of what it is granted. `filter`: a
// descriptor, -1: none. Words are the order's and static ones.
enum { BUBBLEWRAP_MOST_WORDS = 160 };
void bubblewrap_words(const ConfineOrder *order, const char *path, int filter,
                      char *words[BUBBLEWRAP_MOST_WORDS]);

// STATUS_INVALID_ARGUMENT where a grant contains one of order->shut.
Status grants_check(const ConfineOrder *order);

#endif
