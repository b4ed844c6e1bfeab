// profile_file.h -- a Profile as a JSON file, schema ridgepoint.profile/v1, as profile_mlp --json
// writes it: counts exact, times in seconds.
#ifndef PROFILER_FILES_PROFILE_FILE_H
#define PROFILER_FILES_PROFILE_FILE_H

#include "profiler/profile.h"

RIDGEPOINT_API_BEGIN

// `command` is what made the profile, in words of yours; NULL: nothing is said. The file appears
// whole or not at all; "-" is standard output. STATUS_IO, STATUS_OUT_OF_MEMORY.
Status profile_write_file(const Profile *profile, const char *command, const char *path);

RIDGEPOINT_API_END

#endif
