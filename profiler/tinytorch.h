// tinytorch.h -- the profile in TinyTorch's own keys and definitions, labelled as such: for those
// who hold their course's numbers against ours. Nowhere else do these names appear.
#ifndef PROFILER_TINYTORCH_H
#define PROFILER_TINYTORCH_H

#include "profiler/profile.h"

// STATUS_IO; the file appears whole or not at all; "-" is standard output.
Status tinytorch_write(const Profile *profile, const char *path);

#endif
