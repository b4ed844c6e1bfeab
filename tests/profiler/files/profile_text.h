// profile_text.h -- a small profile and its JSON, for tests of what reads it.
#ifndef TESTS_PROFILER_FILES_PROFILE_TEXT_H
#define TESTS_PROFILER_FILES_PROFILE_TEXT_H

#include <jansson.h>

#include "profiler/measure/profile.h"

// Of a perceptron 20-30-10 with Adam, four samples; profile_free it.
Profile profile_small(void);
// The document that is written of it, on one line; yours to free.
char *profile_text_new(const Profile *profile);

#endif
