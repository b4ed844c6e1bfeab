// contain_remove.h -- removes what lies in an open folder and belongs to one user. No path is ever
// put together, no link is followed, and what belongs to anybody else stays.
#ifndef EXERCISES_GRADER_CONTAIN_REMOVE_H
#define EXERCISES_GRADER_CONTAIN_REMOVE_H

#include <sys/types.h>

// How many entries of `folder` were removed; none for a user outside of the contained range.
int remove_owned(int folder, uid_t user);

// For a folder of contain_directory_new, which the caller has verified: all that is in it.
int remove_everything(int folder);

#endif
