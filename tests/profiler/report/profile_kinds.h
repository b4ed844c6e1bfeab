// profile_kinds.h -- profiles of each kind of step, for the small perceptrons of nets.h.
#ifndef TESTS_PROFILER_REPORT_PROFILE_KINDS_H
#define TESTS_PROFILER_REPORT_PROFILE_KINDS_H

#include "tests/helpers/nets.h"

enum { PROFILE_KINDS = PROFILE_INFERENCE + 1 };

// A profile of two samples, asserted to succeed.
Profile profile_task(const Net *net, const NetTask *task, ProfileKind kind);
Profile profile_random(int seed, ProfileKind kind); // of net_random(seed)

#endif
