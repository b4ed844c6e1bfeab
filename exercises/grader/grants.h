// grants.h -- internal to confinement: which files a program may read, execute and write, said to
// Landlock or to bubblewrap.
#ifndef EXERCISES_GRADER_GRANTS_H
#define EXERCISES_GRADER_GRANTS_H

#include "exercises/grader/confine.h"

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
