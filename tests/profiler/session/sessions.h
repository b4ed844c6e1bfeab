// sessions.h -- helpers of the tests of profiling sessions: a task that trains under scopes, and
// the rows of a summary.
#ifndef TESTS_PROFILER_SESSION_SESSIONS_H
#define TESTS_PROFILER_SESSION_SESSIONS_H

#include "profiler/session/profiler.h"
#include "tests/helpers/expect.h"
#include "tests/helpers/nets.h"

typedef struct Steps {
    NetTask task;
    Optimizer *optimizer;
} Steps;
Steps steps_new(int seed); // a net_random after two steps: gradients, state and caches exist
void steps_free(Steps *steps);
// Trains one step in a scope "step", after an empty kernel "nothing" of 3 FLOPs and 5 bytes there.
void steps_train(Steps *steps);

extern const Machine session_machine; // 100 GFLOP/s, an L1 and DRAM

Profiler *session_new(ProfilerOptions options); // both fail the test on any error
ProfilerSummary session_summary(const Profiler *profiler);

// The one row with that path and name; NULL: none. Fails the test if there are several.
const ProfilerRow *session_row(const ProfilerSummary *summary, const char *path, const char *name);
int64_t session_calls(const ProfilerSummary *summary, const char *path, const char *name); // or 0
// Checks that self times and the rest add up, and that none is negative.
void session_check_times(const ProfilerSummary *summary);

#endif
