// input_file.h -- reads a whole file of any kind named by the user, and never waits forever.
#ifndef PROFILER_BASE_INPUT_FILE_H
#define PROFILER_BASE_INPUT_FILE_H

#include "tensor/status.h"

#include <stddef.h>

enum { INPUT_FILE_PATIENCE = 10 }; // seconds to wait for a FIFO's writer

// Returns the file's *size bytes, followed by a 0; the caller frees them with memory_free. NULL:
// the file cannot be read (STATUS_IO), or has more than `most` bytes (STATUS_FORMAT). Reading a
// FIFO fails if nobody writes to it for ten seconds; a signal ends the wait.
char *input_file_read(const char *path, size_t most, size_t *size);

#endif
