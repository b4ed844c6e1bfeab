// archive.h -- walks over an archive that a stranger made: .tar, .tar.gz and .zip, told by their
// bytes, not by their names. Nothing is written anywhere; an archive that tries anything is refused
// as a whole. Not here: which of its files are asked for (stage.c).
#ifndef EXERCISES_INSTRUCTOR_ARCHIVE_H
#define EXERCISES_INSTRUCTOR_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>

#include "tensor/status.h"

// Of all files together, packed as well as unpacked; of one; how many files and folders.
enum { ARCHIVE_MOST_BYTES = 32 << 20, ARCHIVE_MOST_FILE = 1 << 20, ARCHIVE_MOST_ENTRIES = 2000 };
enum { ARCHIVE_NAME = 512 }; // of a path in an archive, with its end

// One regular file: its path in the archive (relative, with '/', without ".."), and its bytes,
// borrowed.
typedef Status ArchiveTake(void *argument, const char *name, const char *bytes, size_t count);

// Calls `take` for each file in turn; what it returns ends the walk unless STATUS_OK. Folders and
// the extra headers that tars of today write are passed over. STATUS_FORMAT says of which entry,
// and why not: no archive, a damaged one, a link, a device, a path that leads elsewhere or has
// control characters, a name that is there twice, too many or too large files; of a .zip also what
// is encrypted, ZIP64, in several parts, or packed by another method than deflate.
Status archive_each(const char *path, ArchiveTake *take, void *argument);
// The same of bytes; `name` is for messages.
Status archive_each_of(const char *name, const char *bytes, size_t count, ArchiveTake *take,
                       void *argument);

// Whether a name promises an archive that is read here; its end is then *stem bytes in (or NULL).
bool archive_is_named(const char *name, size_t *stem);
// What another kind of archive is called, "a .7z archive"; NULL: it is none.
const char *archive_other_kind(const char *name);

// ---- between the readers ------------------------------------------------------------------------
typedef struct ArchiveWalk {
    const char *path; // for messages
    ArchiveTake *take;
    void *argument;
    int entries;                 // so far
    size_t bytes;                // unpacked so far
    char (*names)[ARCHIVE_NAME]; // owned, of all entries so far
    int n_names;
} ArchiveWalk;

Status archive_refuse(const ArchiveWalk *walk, const char *entry, const char *why);
// Looks at an entry before anything of it is read: its path, made one with '/', whether it was
// there before, how many and how large.
Status archive_enter(ArchiveWalk *walk, char name[ARCHIVE_NAME], size_t size);
Status archive_walk_tar(ArchiveWalk *walk, const char *bytes, size_t count);
Status archive_walk_zip(ArchiveWalk *walk, const char *bytes, size_t count);

#endif
