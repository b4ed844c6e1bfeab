// version.h -- which version this is, and what stays the same from one to the next.
//
// * Until 1.0: what compiles with 0.N.0 without a deprecation compiles with every later 0.N.P and
//   means the same; 0.N+1 may differ, and CHANGELOG.md says where. From 1.0 on MAJOR is what N was.
// * RIDGEPOINT_ABI is the number in the shared library's name (libridgepoint.so.0). It grows with
//   every change that a program linked before would not survive, in a struct or a function; a
//   program that links statically has nothing to mind.
// * The promise is of what public headers declare, enclosed by RIDGEPOINT_API_BEGIN and _END, and
//   the formats of files with a schema. Texts of messages and reports may change at any time.
#ifndef TENSOR_VERSION_H
#define TENSOR_VERSION_H

#include "tensor/api.h"

// The one place to change: the Makefile reads these.
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

// Of the library that runs, which may be another than that whose headers were compiled with.
const char *ridgepoint_version(void); // "0.1.0"

RIDGEPOINT_API_END

#endif
