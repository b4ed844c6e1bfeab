// published.h -- networks by name, for tests.
#ifndef TESTS_HELPERS_PUBLISHED_H
#define TESTS_HELPERS_PUBLISHED_H

#include "layers/models/zoo.h"

// Fails the test where there is no network of that name; NULL with an error pending where it could
// not be made.
Layer *published_new(const char *name, int64_t classes);

#endif
