// text_file.h -- small files as a whole: a student's, the course's. Nothing here follows a link or
// waits at a pipe, because a student's folder may hold anything.
#ifndef EXERCISES_GRADER_TEXT_FILE_H
#define EXERCISES_GRADER_TEXT_FILE_H

#include <stddef.h>

#include "tensor/status.h"

// The content of folder/name (folder NULL: of the path `name`), with a zero behind it; *size
// without that, where asked. Owned. NULL with STATUS_IO pending (missing, or no regular file),
// STATUS_FORMAT (more than `most` bytes) or STATUS_OUT_OF_MEMORY.
char *file_read(const char *folder, const char *name, size_t most, size_t *size);

// Makes or replaces it, whole or not at all.
Status file_write(const char *folder, const char *name, const void *bytes, size_t size);

#endif
