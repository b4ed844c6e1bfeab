// alone.h -- for whoever runs hostile code to see what becomes of it (the self-test, some tests):
// first of all this process goes into namespaces of its own, in which nothing can be written but
// three fresh folders in memory, and in which no process of others is seen. Not part of grading.
#ifndef EXERCISES_SELFTEST_ALONE_H
#define EXERCISES_SELFTEST_ALONE_H

#include <sys/types.h>

// NULL: from here on, in this process and in all that it starts, everything is read-only but /tmp
// (where TMPDIR now is), /var/tmp and /dev/shm, which are new and empty. Else why that is not to be
// had here; then hostile code must not be run. Call it first in main: what comes back is another
// process, whose exit status the first one passes on.
const char *alone_enter(void);

// As whom a test's process goes on, after alone_enter.
typedef enum AloneUser {
    ALONE_SELF,   // as it is
    ALONE_PLAIN,  // not root
    ALONE_MAPPED, // root of a user namespace in which there is nobody else
    ALONE_USERS
} AloneUser;
extern const char *const alone_user_names[ALONE_USERS];
const char *alone_become(AloneUser user); // NULL, or why not

// Somebody else's process, of the account that confined programs of a root grader have (of our own
// where we are not root), with a file of its own in each folder that can be written.
typedef struct Bystander {
    pid_t pid;
} Bystander;
Bystander bystander_start(void);
const char *bystander_harm(const Bystander *bystander); // NULL: it lives, and has all that it had
void bystander_end(Bystander *bystander);

#endif
