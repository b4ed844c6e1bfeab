// confine_enter.h -- internal to confinement: what stands between fork and exec.
#ifndef EXERCISES_GRADER_CONFINE_ENTER_H
#define EXERCISES_GRADER_CONFINE_ENTER_H

#include <sys/types.h>

#include "exercises/grader/confine.h"

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

#endif
