// profile_csv.h -- a profile as a table for a spreadsheet: a row for each phase of each layer.
#ifndef PROFILER_FILES_PROFILE_CSV_H
#define PROFILER_FILES_PROFILE_CSV_H

#include "profiler/profile.h"

// CSV (RFC 4180): counts exact, seconds and shares in full, what is not known empty. Rows add up to
// the step but for what no layer took. "-" is standard output. STATUS_IO, STATUS_OUT_OF_MEMORY.
Status profile_write_csv(const Profile *profile, const char *path);

#endif
