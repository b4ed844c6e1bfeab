// nets.h -- small perceptrons with a batch each, and profiles of them, shared by the profiler's
// tests.
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

// Cycles through all activations; one value of each cycle is NULL, for none.
const Op *net_activation(int i);

// A random net: sizes 1..60, batches 1..9. Every activation and optimizer comes up, fused or not,
// with and without bias and dropout.
Net net_random(int seed);

typedef struct NetTask { // lies on the context's device
    Layer *model;
    Tensor *x, *labels;
} NetTask;
NetTask net_task_new(const Net *net);
void net_task_free(NetTask *task);

// Profiles a new task; asserts that it succeeds and leaves nothing in memory.
Profile net_profile(const Net *net, int64_t samples);

// Fails the test unless the profile says that nothing ran, and its two counts of the step's memory
// agree.
void profile_expect_counted_only(const Profile *profile);

#endif
