// programs.h -- random programs for the tests of sessions: scopes, kernels, ops and layers nested
// at random, in which steps end, and sessions stop and start again, anywhere.
#ifndef TESTS_PROFILER_SESSION_PROGRAMS_H
#define TESTS_PROFILER_SESSION_PROGRAMS_H

#include "tests/profiler/session/sessions.h"

ProfilerSchedule schedule_random(int seed);

typedef struct Program {
    RandomState random;
    Profiler *profiler;
    Profiler *second; // a session beside it; NULL: none
    Layer *model;
    Tensor *x;
    int left; // actions left
} Program;

// Takes all actions that are left. The sessions are started before it, and still run after it.
void program_take_actions(Program *program);

// A clock that two sessions read alike: it stands still, except between a program's actions. End it
// before the sessions are freed.
void program_clock_begin(void);
void program_clock_end(void);

#endif
