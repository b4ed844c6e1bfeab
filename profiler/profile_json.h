// profile_json.h -- a Profile as JSON, schema ridgepoint.profile/v1 (keys and units: --help
// counts).
#ifndef PROFILER_PROFILE_JSON_H
#define PROFILER_PROFILE_JSON_H

#include "profiler/profile.h"

typedef struct ProfileTraining { // what training after the profile reached
    const char *data;            // "generated digits", or the folder
    FitResult fit;
    double test_accuracy; // NaN: there was no test set
} ProfileTraining;

// Writes the document to `path` ("-": standard output); `command` is the command line that made it,
// `training` may be NULL. STATUS_IO with a message naming the file when it cannot be written; then
// an existing file is as it was.
Status profile_write_json(const Profile *profile, const ProfileTraining *training,
                          const char *command, const char *path);

#endif
