// text_file.h -- reads and writes small files as a whole. A `folder` argument may belong to a
// stranger, so no link in it is followed.
#ifndef EXERCISES_COURSE_TEXT_FILE_H
#define EXERCISES_COURSE_TEXT_FILE_H

#include <stddef.h>

#include "tensor/status.h"

// The file's content, owned, with a NUL after it; *count (or NULL) does not include the NUL. If
// `folder` is NULL, `name` is a path, whose links are followed; else `name` is a plain file in that
// folder. NULL with STATUS_IO (missing, not a plain file), STATUS_FORMAT (more than `most` bytes)
// or STATUS_OUT_OF_MEMORY pending.
char *file_read(const char *folder, const char *name, size_t most, size_t *count);

// The first line of a file, owned, such as a course's secret; "" if `path` is NULL.
char *file_first_line(const char *path);

Status file_write(const char *folder, const char *name, const void *bytes, size_t count);

// Makes bytes harmless for every reader, in place: invalid UTF-8, control characters and characters
// that change the text direction become '?' (newline and tab stay).
void text_clean(char *text);

#endif
