// published.h -- torchvision's names of networks, and the calls that make them here.
#ifndef TESTS_HELPERS_PUBLISHED_H
#define TESTS_HELPERS_PUBLISHED_H

#include "layers/models/models.h"

// Fails the test where there is no network of that name; NULL with an error pending where it could
// not be made.
Layer *published_new(const char *name, int64_t classes);

#endif
