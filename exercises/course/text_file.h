// text_file.h -- reads and writes small files as a whole. A folder that is named apart is a
// stranger's: nothing in it is followed elsewhere.
#ifndef EXERCISES_COURSE_TEXT_FILE_H
#define EXERCISES_COURSE_TEXT_FILE_H

#include <stddef.h>

#include "tensor/status.h"

// What is in the file, owned, with a NUL after it; *count (or NULL) is without that. `folder` NULL:
// `name` is a path, and links in it are followed; else the name of a plain file in that folder.
// NULL with STATUS_IO (missing, no plain file), STATUS_FORMAT (more than `most` bytes) or
// STATUS_OUT_OF_MEMORY pending.
char *file_read(const char *folder, const char *name, size_t most, size_t *count);

// The first line of such a file, owned, as a course's secret is kept; "" where `path` is NULL.
char *file_first_line(const char *path);

Status file_write(const char *folder, const char *name, const void *bytes, size_t count);

// Makes bytes harmless for every reader: invalid UTF-8, control characters and what turns a line's
// direction become '?' (newline and tab stay). In place.
void text_clean(char *text);

#endif
