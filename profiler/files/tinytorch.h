// tinytorch.h -- the profile in TinyTorch's own keys and definitions, labelled as such: for those
// who hold their course's numbers against ours. Nowhere else do these names appear.
#ifndef PROFILER_FILES_TINYTORCH_H
#define PROFILER_FILES_TINYTORCH_H

#include "profiler/profile.h"

RIDGEPOINT_API_BEGIN

// One object for each of its Profiler's methods (profile_forward_pass, profile_backward_pass,
// profile_layer: a list), by their names, and what those keys mean that ours would contradict.
// Fails with STATUS_IO or STATUS_OUT_OF_MEMORY; the file appears whole or not at all; "-" is
// standard output.
Status tinytorch_write(const Profile *profile, const char *path);

RIDGEPOINT_API_END

#endif
