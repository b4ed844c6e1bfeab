// archive.h -- walks through an archive that a stranger made: .tar, .tar.gz or .zip, recognised by
// its bytes, not by its name. It writes nothing to disk, and refuses a suspicious archive as a
// whole. stage.c decides which of its files to use.
#ifndef EXERCISES_INSTRUCTOR_ARCHIVE_H
#define EXERCISES_INSTRUCTOR_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>

#include "tensor/status.h"

// Limits: bytes of all files together (packed, and again unpacked), bytes of one file, number of
// files and folders.
enum { ARCHIVE_MOST_BYTES = 32 << 20, ARCHIVE_MOST_FILE = 1 << 20, ARCHIVE_MOST_ENTRIES = 2000 };
enum { ARCHIVE_NAME = 512 }; // bytes of a path in an archive, with the zero at its end

// Takes one regular file: its path in the archive (relative, with '/', without ".."), and its
// bytes, borrowed.
typedef Status ArchiveTake(void *argument, const char *name, const char *bytes, size_t count);

// Calls `take` for each file in turn; a status other than STATUS_OK ends the walk. It skips folders
// and the extra headers that modern tars write. STATUS_FORMAT comes with the entry and the reason:
// not an archive, a damaged one, a link, a device, a path that leads outside or has control
// characters, a duplicate name, too many or too large files; in a .zip also files that are
// encrypted, in the ZIP64 form, in several parts, or packed by another method than deflate.
Status archive_each(const char *path, ArchiveTake *take, void *argument);
// Like archive_each, for an archive in memory; `name` is for messages.
Status archive_each_of(const char *name, const char *bytes, size_t count, ArchiveTake *take,
                       void *argument);

// True if a name has the suffix of a supported archive; the suffix starts at byte *stem (or NULL).
bool archive_is_named(const char *name, size_t *stem);
// The suffix of a name of an unsupported kind of archive, such as ".7z"; NULL: no such suffix.
const char *archive_other_kind(const char *name);

// ---- shared by the readers ----------------------------------------------------------------------
typedef struct ArchiveWalk {
    const char *path; // for messages
    ArchiveTake *take;
    void *argument;
    int entries, described;      // entries so far; headers that only describe the next entry
    size_t bytes;                // bytes unpacked so far
    char (*names)[ARCHIVE_NAME]; // owned: the names of all entries so far
    int n_names;
} ArchiveWalk;

Status archive_refuse(const ArchiveWalk *walk, const char *entry, const char *why);
// Checks an entry before reading it: its path (rewritten with '/'), duplicates of its name, the
// number of entries, their bytes.
Status archive_enter(ArchiveWalk *walk, char name[ARCHIVE_NAME], size_t size);
Status archive_walk_tar(ArchiveWalk *walk, const char *bytes, size_t count);
Status archive_walk_zip(ArchiveWalk *walk, const char *bytes, size_t count);

#endif
