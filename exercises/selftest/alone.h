// alone.h -- protection for programs that run hostile code on purpose (the self-test, some tests):
// the process first enters namespaces of its own, in which it can write only to three fresh folders
// in memory, and sees no processes of others. Not part of grading.
#ifndef EXERCISES_SELFTEST_ALONE_H
#define EXERCISES_SELFTEST_ALONE_H

#include <sys/types.h>

// Returns NULL on success: from here on, for this process and its children, all is read-only except
// /tmp (now TMPDIR), /var/tmp and /dev/shm, which are new and empty. Else returns the reason why
// this does not work here; then do not run hostile code. Call it first in main: it returns in
// another process, whose exit status the first one passes on.
const char *alone_enter(void);

// The user as whom a test's process continues, after alone_enter.
typedef enum AloneUser {
    ALONE_SELF,   // unchanged
    ALONE_PLAIN,  // not root
    ALONE_MAPPED, // root of a user namespace without other users
    ALONE_USERS
} AloneUser;
extern const char *const alone_user_names[ALONE_USERS];
const char *alone_become(AloneUser user); // NULL, or the reason for a failure

// Another process, under the account that confined programs of a root grader have (or our own if we
// are not root), with its own file in each writable folder.
typedef struct Bystander {
    pid_t pid;
} Bystander;
Bystander bystander_start(void);
const char *bystander_harm(const Bystander *bystander); // NULL: it lives, and has all its files
void bystander_end(Bystander *bystander);

#endif
