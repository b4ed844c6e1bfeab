// byte_file.h -- files of given bytes in a test's own folder (work_folder.h), for readers and
// writers of files.
#ifndef TESTS_HELPERS_BYTE_FILE_H
#define TESTS_HELPERS_BYTE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tensor/status.h"

const char *byte_file_path(const char *name); // valid until the next call
const char *byte_file_put(const char *name, const void *bytes, size_t size); // the file's path
// True if the file holds exactly these bytes.
bool byte_file_is(const char *name, const void *bytes, size_t size);
int byte_file_count(void); // number of files in the folder

// Fails the test unless an error of this status is pending, in one line that mentions `text`, with
// a hint; then clears it.
void byte_file_expect_error(Status status, const char *text);

#endif
