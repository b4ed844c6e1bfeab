// cuda_task.h -- a small net on the emulated device, on one clock of host and device, and what each
// op of its step asks of the runtime: an answer of its own to how long it takes the device.
#ifndef TESTS_CUDA_CUDA_TASK_H
#define TESTS_CUDA_CUDA_TASK_H

#include "layers/train/fit.h"
#include "profiler/session/profiler.h"
#include "tests/cuda/cuda_clock.h"
#include "tests/cuda/cuda_device.h"
#include "tests/helpers/expect.h"

// What work takes on the fake clock, as tests/emulator/fake_runtime.h has it, and a reading of it.
enum { CUDA_KERNEL = 5000, CUDA_COPY = 2000, CUDA_READING = 100 };
typedef struct CudaTimes {
    int64_t kernel, copy, bytes, host;
} CudaTimes;

typedef struct CudaTask {
    Layer *model;
    Optimizer *optimizer;
    Tensor *x, *labels; // 5 x 7 floats, 5 labels
    // Of a step's ops, in the order in which they end: kernels and products.
    const Op *ops[64];
    int64_t work[64];
    int64_t n_ops, launches; // of them, those that are no views
    ProfilerHook busy;       // while the task lives: launching an op takes the host `host`
    int64_t host;            // nanoseconds
} CudaTask;

// Fails or skips the test where it cannot be. A queue that is held back is so for 2 ms.
void cuda_task_start(CudaTask *task, int64_t host);
void cuda_task_free(CudaTask *task);
Status cuda_task_step(CudaTask *task);

#endif
