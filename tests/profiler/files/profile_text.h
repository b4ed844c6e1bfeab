// profile_text.h -- a small profile and its JSON, for tests of the code that reads it.
#ifndef TESTS_PROFILER_FILES_PROFILE_TEXT_H
#define TESTS_PROFILER_FILES_PROFILE_TEXT_H

#include <jansson.h>

#include "profiler/measure/profile.h"

// A profile of a perceptron 20-30-10 with Adam, four samples; free it with profile_free.
Profile profile_small(void);
// The profile's JSON document, on one line; free it.
char *profile_text_new(const Profile *profile);

#endif
