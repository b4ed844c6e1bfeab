// profile_file.h -- a Profile as a JSON file: in our keys (schema ridgepoint.profile/v1, as
// profile_mlp --json writes it: counts exact, times in seconds), or in TinyTorch's.
#ifndef PROFILER_FILES_PROFILE_FILE_H
#define PROFILER_FILES_PROFILE_FILE_H

#include "profiler/measure/profile.h"

RIDGEPOINT_API_BEGIN

// `command` is what made the profile, in words of yours; NULL: nothing is said. The file appears
// whole or not at all; "-" is standard output. STATUS_IO, STATUS_OUT_OF_MEMORY.
Status profile_write_file(const Profile *profile, const char *command, const char *path);

// ---- TinyTorch's own keys and definitions (tinytorch.c) -----------------------------------------
// One object for each of its Profiler's methods (profile_forward_pass, profile_backward_pass,
// profile_layer: a list), by their names, and what those keys mean that ours would contradict.
// Fails with STATUS_IO or STATUS_OUT_OF_MEMORY; the file appears whole or not at all; "-" is
// standard output.
Status tinytorch_write(const Profile *profile, const char *path);

RIDGEPOINT_API_END

#endif
