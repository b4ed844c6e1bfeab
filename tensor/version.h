// version.h -- the version, and the promises that hold between versions.
//
// * Until 1.0: code that compiles with 0.N.0 without a deprecation compiles with every later 0.N.P
//   and means the same; 0.N+1 may differ, as CHANGELOG.md says. From 1.0 on MAJOR plays N's part.
// * RIDGEPOINT_ABI is the number in the shared library's name (libridgepoint.so.0). It grows with
//   every change to a struct or a function that breaks programs linked before; statically linked
//   programs are not affected.
// * The promise covers declarations between RIDGEPOINT_API_BEGIN and _END in public headers, and
//   the formats of files with a schema. Texts of messages and reports may change at any time.
#ifndef TENSOR_VERSION_H
#define TENSOR_VERSION_H

#include "tensor/api.h"

// Change the version only here: the Makefile reads these.
#define RIDGEPOINT_VERSION_MAJOR 0
#define RIDGEPOINT_VERSION_MINOR 1
#define RIDGEPOINT_VERSION_PATCH 0
#define RIDGEPOINT_ABI 0

#define RIDGEPOINT_VERSION_TEXT(major, minor, patch) #major "." #minor "." #patch
#define RIDGEPOINT_VERSION_EXPANDED(major, minor, patch)                                           \
    RIDGEPOINT_VERSION_TEXT(major, minor, patch)
#define RIDGEPOINT_VERSION                                                                         \
    RIDGEPOINT_VERSION_EXPANDED(RIDGEPOINT_VERSION_MAJOR, RIDGEPOINT_VERSION_MINOR,                \
                                RIDGEPOINT_VERSION_PATCH) // "0.1.0"

RIDGEPOINT_API_BEGIN

// Version of the running library, which may differ from the headers compiled with.
const char *ridgepoint_version(void); // "0.1.0"

RIDGEPOINT_API_END

#endif
