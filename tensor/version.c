// version.c -- the version of the library that runs.
#include "tensor/version.h"

const char *ridgepoint_version(void) { return RIDGEPOINT_VERSION; }
