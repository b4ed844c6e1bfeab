// null_calls.h -- every function of the public headers that takes a pointer, callable with NULL for
// any of them. The table is made from the headers when the test is built (tests/tools/
// null_calls.awk), so that new functions are in it automatically.
#ifndef TESTS_GUEST_NULL_CALLS_H
#define TESTS_GUEST_NULL_CALLS_H

#include <stdbool.h>

enum { NULL_CALL_MOST = 12, NULL_CALL_ALL = NULL_CALL_MOST };

typedef struct NullCall {
    const char *function;                     // such as "layer_freeze"
    const char *pointers[NULL_CALL_MOST + 1]; // names of its pointer parameters; NULL at the end
    // Calls it with NULL for pointer `absent`, or for all (NULL_CALL_ALL). False: it returned a
    // Status other than the pending one.
    bool (*call)(int absent);
} NullCall;
extern const NullCall null_calls[]; // ends with function NULL

#endif
