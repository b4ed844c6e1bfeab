// result_file.h -- reads back what a grade left in a folder: result.json, and for people the texts
// that lie beside it.
#ifndef EXERCISES_INSTRUCTOR_RESULT_FILE_H
#define EXERCISES_INSTRUCTOR_RESULT_FILE_H

#include "exercises/lab/result.h"

// *result is the caller's; result_free, also after a failure. STATUS_IO, STATUS_FORMAT.
Status result_read(const char *folder, Result *result);

#endif
