// whole_file.h -- a file that appears, or is replaced, complete or not at all. Every file that the
// programs write goes through here; the writers decide its content.
//
//     WholeFile *file = whole_file_open("grades.csv");
//     whole_file_write(file, "name,points\n", 12);
//     Status status = whole_file_close(file);
#ifndef LAYERS_FILES_WHOLE_FILE_H
#define LAYERS_FILES_WHOLE_FILE_H

#include "tensor/status.h"

#include <stddef.h>
#include <stdio.h>

typedef struct WholeFile WholeFile;

// Writes to `path`, which appears (or is replaced, keeping its permissions) only when
// whole_file_close succeeds: until then all goes to a temporary file beside it, so a reader never
// sees half a file. A symbolic link stays, and the file that it leads to is replaced. "-" is
// standard output; a device or a FIFO is written directly. NULL with STATUS_OUT_OF_MEMORY pending,
// or with STATUS_IO where `path` is visibly not writable (or its link leads nowhere).
WholeFile *whole_file_open(const char *path);

// Makes the checks of whole_file_open early, without opening anything.
Status whole_file_check(const char *path);

// Writes to a file that the caller opened and will close; `name` is for error messages. NULL with
// STATUS_OUT_OF_MEMORY pending.
WholeFile *whole_file_on(FILE *file, const char *name);

// The first failure is remembered; all later writes do nothing.
void whole_file_write(WholeFile *file, const void *bytes, size_t length);
void whole_file_print(WholeFile *file, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// Waits until what was written is on the disk, and makes whole_file_close wait until the name is,
// so that not even a power failure loses it: for results of hours, before whole_file_close.
void whole_file_sync(WholeFile *file);

// Puts the file in its place and frees the handle, in every case. Reports the first failure since
// the start: STATUS_IO, naming the path and the reason; an existing file then stays as it was.
Status whole_file_close(WholeFile *file);

// For a caller that failed midway: frees the handle and leaves the target as it was (unless written
// directly). NULL is fine.
void whole_file_discard(WholeFile *file);

#endif
