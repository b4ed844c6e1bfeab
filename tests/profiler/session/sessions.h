// sessions.h -- what the tests of profiling sessions share: a task that trains under scopes, and
// the rows of what was seen.
#ifndef TESTS_PROFILER_SESSION_SESSIONS_H
#define TESTS_PROFILER_SESSION_SESSIONS_H

#include "profiler/session/profiler.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/nets.h"

typedef struct Steps {
    NetTask task;
    Optimizer *optimizer;
} Steps;
Steps steps_new(int seed); // of net_random; has run twice: gradients, state and caches are there
void steps_free(Steps *steps);
// A step in a scope "step", after an empty kernel "nothing" of 3 FLOPs and 5 bytes in it.
void steps_train(Steps *steps);

Profiler *session_new(ProfilerOptions options); // these fail the test where they fail
ProfilerSummary session_summary(const Profiler *profiler);

// The one row of that path and name; NULL: there is none. More than one fail the test.
const ProfilerRow *session_row(const ProfilerSummary *summary, const char *path, const char *name);
int64_t session_calls(const ProfilerSummary *summary, const char *path, const char *name); // or 0
// Self times and the rest add up, and none is negative.
void session_check_times(const ProfilerSummary *summary);

#endif
