// cuda_task.h -- a small net on the emulated device, with one clock for host and device, and the
// runtime calls of each op of its step: an independent answer to the device time of each op.
#ifndef TESTS_CUDA_CUDA_TASK_H
#define TESTS_CUDA_CUDA_TASK_H

#include "layers/train/fit.h"
#include "profiler/session/profiler.h"
#include "tests/cuda/cuda_clock.h"
#include "tests/cuda/cuda_device.h"
#include "tests/helpers/expect.h"

// Nanoseconds on the fake clock: a kernel, a copy (see tests/emulator/fake_runtime.h), a reading.
enum { CUDA_KERNEL = 5000, CUDA_COPY = 2000, CUDA_READING = 100 };
typedef struct CudaTimes {
    int64_t kernel, copy, bytes, host;
} CudaTimes;

typedef struct CudaTask {
    Layer *model;
    Optimizer *optimizer;
    Tensor *x, *labels; // 5 x 7 floats, 5 labels
    // A step's ops in the order in which they end, and the kernels and products of each.
    const Op *ops[64];
    int64_t work[64];
    int64_t n_ops, launches; // launches: ops that are no views
    ProfilerHook busy;       // while the task lives, each launch takes `host`
    int64_t host;            // nanoseconds
} CudaTask;

// Fails or skips the test if there is no device. A queue that is held back waits 2 ms.
void cuda_task_start(CudaTask *task, int64_t host);
void cuda_task_free(CudaTask *task);
Status cuda_task_step(CudaTask *task);

#endif
