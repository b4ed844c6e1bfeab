// profile_file.h -- writes a Profile as a JSON file: with our keys (schema ridgepoint.profile/v1,
// as profile_mlp --json writes it: counts exact, times in seconds), or with TinyTorch's.
#ifndef PROFILER_FILES_PROFILE_FILE_H
#define PROFILER_FILES_PROFILE_FILE_H

#include "profiler/measure/profile.h"

RIDGEPOINT_API_BEGIN

// `command` describes the origin of the profile in your words; NULL: omitted. The file appears
// whole or not at all; "-" is standard output. STATUS_IO, STATUS_OUT_OF_MEMORY.
Status profile_write_file(const Profile *profile, const char *command, const char *path);

// ---- TinyTorch's own keys and definitions (tinytorch.c) -----------------------------------------
// Writes one object for each of its Profiler's methods (profile_forward_pass,
// profile_backward_pass, profile_layer: a list), with their key names and their meanings where ours
// differ. Fails with STATUS_IO or STATUS_OUT_OF_MEMORY; the file appears whole or not at all; "-"
// is standard output.
Status tinytorch_write(const Profile *profile, const char *path);

RIDGEPOINT_API_END

#endif
