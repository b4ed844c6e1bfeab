// published.h -- networks by name, for tests.
#ifndef TESTS_HELPERS_PUBLISHED_H
#define TESTS_HELPERS_PUBLISHED_H

#include "layers/models/zoo.h"

// Fails the test if no network has that name; NULL with an error pending if making it fails.
Layer *published_new(const char *name, int64_t classes);

#endif
