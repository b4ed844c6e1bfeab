// archive.h -- walks over an archive that a stranger made: .tar, .tar.gz and .zip, told by their
// bytes, not by their names. Nothing is written anywhere; an archive that tries anything is refused
// as a whole. Not here: which of its files are asked for (stage.c).
#ifndef EXERCISES_INSTRUCTOR_ARCHIVE_H
#define EXERCISES_INSTRUCTOR_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>

#include "tensor/status.h"

// The most bytes of all files together (packed, and unpacked again) and of one file; the most files
// and folders.
enum { ARCHIVE_MOST_BYTES = 32 << 20, ARCHIVE_MOST_FILE = 1 << 20, ARCHIVE_MOST_ENTRIES = 2000 };
enum { ARCHIVE_NAME = 512 }; // bytes of a path in an archive, with the zero at its end

// One regular file: its path in the archive (relative, with '/', without ".."), and its bytes,
// borrowed.
typedef Status ArchiveTake(void *argument, const char *name, const char *bytes, size_t count);

// Calls `take` for each file in turn; a status that is not STATUS_OK ends the walk. Folders and the
// extra headers that tars of today write are passed over. STATUS_FORMAT names the entry and the
// reason: no archive, a damaged one, a link, a device, a path that leads elsewhere or has
// control characters, a name that is there twice, too many or too large files; in a .zip also files
// that are encrypted, in the ZIP64 form, in several parts, or packed by another method than
// deflate.
Status archive_each(const char *path, ArchiveTake *take, void *argument);
// The same for an archive in memory; `name` is for messages.
Status archive_each_of(const char *name, const char *bytes, size_t count, ArchiveTake *take,
                       void *argument);

// Whether a name promises an archive that is read here; its end is then *stem bytes in (or NULL).
bool archive_is_named(const char *name, size_t *stem);
// The end of a name that promises another kind of archive, ".7z"; NULL: it promises none.
const char *archive_other_kind(const char *name);

// ---- between the readers ------------------------------------------------------------------------
typedef struct ArchiveWalk {
    const char *path; // for messages
    ArchiveTake *take;
    void *argument;
    int entries, described;      // so far; and headers that only say more of the next one
    size_t bytes;                // unpacked so far
    char (*names)[ARCHIVE_NAME]; // owned: the names of all entries so far
    int n_names;
} ArchiveWalk;

Status archive_refuse(const ArchiveWalk *walk, const char *entry, const char *why);
// Holds an entry to the bounds before anything of it is read: its path (written with '/' from here
// on), a second one of its name, the number of entries, their bytes.
Status archive_enter(ArchiveWalk *walk, char name[ARCHIVE_NAME], size_t size);
Status archive_walk_tar(ArchiveWalk *walk, const char *bytes, size_t count);
Status archive_walk_zip(ArchiveWalk *walk, const char *bytes, size_t count);

#endif
