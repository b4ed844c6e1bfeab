// input_file.h -- all of a file that somebody names: of any kind, but never waiting without end.
#ifndef PROFILER_BASE_INPUT_FILE_H
#define PROFILER_BASE_INPUT_FILE_H

#include "tensor/status.h"

#include <stddef.h>

enum { INPUT_FILE_PATIENCE = 10 }; // seconds, for whoever writes a FIFO

// Its bytes, *size of them, and a 0 behind; yours to memory_free. NULL: it cannot be read
// (STATUS_IO), or has more than `most` bytes (STATUS_FORMAT). A FIFO that nobody writes for ten
// seconds cannot, either; a signal ends the waiting.
char *input_file_read(const char *path, size_t most, size_t *size);

#endif
