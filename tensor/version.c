// version.c -- the version of the running library.
#include "tensor/version.h"

const char *ridgepoint_version(void) { return RIDGEPOINT_VERSION; }
