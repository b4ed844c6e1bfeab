// contain_parts.h -- what the files of containment share: the plan of one run, and the memory in
// which its processes tell each other how it went. Nobody else includes it.
#ifndef EXERCISES_GRADER_CONTAIN_PARTS_H
#define EXERCISES_GRADER_CONTAIN_PARTS_H

#include "exercises/grader/contain.h"

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

// What starts as nobody's stays nobody's: every function below that kills or removes refuses any
// user outside of the range, first of all.
#define NO_USER ((uid_t)-1)
bool user_is_contained(uid_t user);

// Written by the keeper and its children, read by the grader once the keeper has ended. A program
// that was contained cannot reach it: execve takes it away.
typedef struct ContainReport {
    const char *failed; // the step of the set-up that failed, and its errno; NULL: none
    int error;
    bool ended; // the program's status and use are known
    int status;
    struct rusage use;
    bool timed_out, flooded;
    int leftovers;
    double seconds;
    size_t output_bytes, values_bytes;
    size_t capacity; // of each of the two in `bytes`: output, then values
    char bytes[];
} ContainReport;

typedef struct Jail { // one run, decided before the keeper is forked
    const ContainCommand *command;
    ContainReport *report;
    unsigned layers;
    uid_t user;       // NO_USER: whoever we are
    gid_t group;      // of the user, or of the folder
    bool own_folder;  // command->directory is contain_directory_new's
    int slot;         // keeps the user ours; -1: none
    uid_t outer_user; // who the grader is
    gid_t outer_group;
    int life; // reads the end when the grader has gone
    int input[2], output[2], values[2];
} Jail;

// Keeper: starts the program, watches it, ends what is left of it, and exits.
_Noreturn void keeper_run(const Jail *jail);
// The first process of the run: becomes the program, or says in the report why it could not.
_Noreturn void jail_enter(const Jail *jail);

// Takes a user that no other grader on this machine uses until `slot` is closed.
Status user_take(uid_t *user, int *slot);
// Ends every process of the user, from a process that has become that user.
void user_end_processes(uid_t user);
// Removes what belongs to the user in the folders that everybody may write to; how many.
int user_remove_files(uid_t user);
bool user_can_be_taken(void); // as who we are

// Is `path` one of contain_directory_new's? Then *group is who may enter.
bool directory_is_ours(const char *path, gid_t *group);
void directory_open_to_group(const char *path, bool may_write);
void directory_take_back(const char *path, uid_t user); // what the user made in it becomes ours

// Forks into namespaces of its own. There, the first process calls namespace_enter, which
// makes all read-only but `writable` (may be NULL); 0 or an errno.
pid_t namespace_fork(void);
int namespace_enter(const char *writable, uid_t outer_user, gid_t outer_group);

// From here on only what a worker needs; `program` is what may be executed, once. 0 or an errno.
int seccomp_enter(const char *program);

#endif
