// status.h -- the kinds of failure by name, and the first message about one.
// Not here: how a program reports it (profiler/profile_mlp.c turns a status into an exit code).
// A NULL pointer where the header does not allow one is refused with STATUS_INVALID_ARGUMENT
// pending, also by functions that return no Status. Only the inline functions of op.h, which
// kernels call for each element, do not check.
#ifndef TENSOR_STATUS_H
#define TENSOR_STATUS_H

#include <stdbool.h>

#include "tensor/api.h"

RIDGEPOINT_API_BEGIN

// All kinds of failure. An op that fails returns NULL and leaves one of these pending in the
// context, with a message; other functions return the status.
#define STATUS_LIST(X)                                                                             \
    X(OK, "ok")                                                                                    \
    X(INVALID_ARGUMENT, "invalid argument")                                                        \
    X(SHAPE, "shape mismatch")                                                                     \
    X(DTYPE, "dtype mismatch")                                                                     \
    X(DEVICE, "wrong device")                                                                      \
    X(OVERFLOW, "element count overflow")                                                          \
    X(OUT_OF_MEMORY, "out of memory")                                                              \
    X(STATE, "call not possible now")                                                              \
    X(NON_FINITE, "not a finite number")                                                           \
    X(IO, "file cannot be used")                                                                   \
    X(FORMAT, "malformed file")                                                                    \
    X(NOT_IMPLEMENTED, "not implemented")                                                          \
    X(UNKNOWN_OP, "unknown op")

typedef enum Status {
#define STATUS_ENUM(name, text) STATUS_##name,
    STATUS_LIST(STATUS_ENUM)
#undef STATUS_ENUM
} Status;

const char *status_name(Status status); // "STATUS_SHAPE"
const char *status_text(Status status); // "shape mismatch"

// Leaves an error pending in the current context and returns `status`, so that a function can end
// with `return error_set(STATUS_SHAPE, "...")`. The first message wins: later ones are dropped as
// its consequences. End a message with " HINT: what to do". It becomes one line of text: control
// characters turn into '?'.
Status error_set(Status status, const char *format, ...)
    __attribute__((cold, format(printf, 2, 3)));

// The error pending in the calling thread's current context.
bool error_pending(void);
Status error_status(void);       // STATUS_OK when nothing is pending
const char *error_message(void); // "" when nothing is pending; valid until error_clear
void error_clear(void);          // makes the library usable again

RIDGEPOINT_API_END

#endif
