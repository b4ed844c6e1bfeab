// tar.h -- writes plain files into a tar archive (ustar, POSIX.1-1988): the same files give the
// same bytes, whoever packs them and whenever. Not here: reading archives.
#ifndef EXERCISES_LAB_TAR_H
#define EXERCISES_LAB_TAR_H

#include "profiler/files/whole_file.h"

// A file of that name (at most 99 characters) and content. Failures are whole_file_close's.
void tar_add(WholeFile *archive, const char *name, const void *content, size_t size);
void tar_end(WholeFile *archive); // once, after the last

#endif
