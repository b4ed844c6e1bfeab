// nets.h -- small perceptrons with a batch each, and profiles of them: what the profiler's tests
// share.
#ifndef TESTS_HELPERS_NETS_H
#define TESTS_HELPERS_NETS_H

#include "profiler/measure/profile.h"

enum { NET_SIZES = 6 };

typedef struct Net {
    int64_t sizes[NET_SIZES], batch;
    int n_sizes;
    MlpOptions options;
    OptimizerKind optimizer;
} Net;

// Each in turn, and none.
const Op *net_activation(int i);

// Sizes of 1..60, batches of 1..9; every activation and optimizer comes up, fused or not, with and
// without bias and dropout.
Net net_random(int seed);

typedef struct NetTask { // on the context's device
    Layer *model;
    Tensor *x, *labels;
} NetTask;
NetTask net_task_new(const Net *net);
void net_task_free(NetTask *task);

// Profiles a new task, asserts that it succeeds, and that nothing of it stays in memory.
Profile net_profile(const Net *net, int64_t samples);

// Fails the test unless the profile says that nothing ran, and its two countings of the step's
// memory agree.
void profile_expect_counted_only(const Profile *profile);

#endif
