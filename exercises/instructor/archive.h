// archive.h -- reads a tar archive that a stranger made. Nothing is written anywhere, and an
// archive that tries anything is refused as a whole. Not here: which of its files are wanted.
#ifndef EXERCISES_INSTRUCTOR_ARCHIVE_H
#define EXERCISES_INSTRUCTOR_ARCHIVE_H

#include <stddef.h>

#include "tensor/status.h"

enum { ARCHIVE_MOST_BYTES = 32 << 20, ARCHIVE_MOST_FILE = 1 << 20, ARCHIVE_MOST_ENTRIES = 2000 };

// One regular file: its path in the archive (relative, without ".."), and its bytes, borrowed.
typedef Status ArchiveTake(void *argument, const char *name, const char *bytes, size_t count);

// Calls `take` for each file in turn; what it returns ends the walk unless STATUS_OK. Folders and
// the extra headers that tars of today write are passed over. STATUS_FORMAT says why not: no tar, a
// sum that is wrong, a link, a device, a path that leads elsewhere, a file or archive too large.
Status archive_each(const char *path, ArchiveTake *take, void *argument);

#endif
