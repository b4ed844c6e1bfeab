// cuda_clock.h -- one clock for the host and the emulated device, so that what both took is exact.
#ifndef TESTS_CUDA_CUDA_CLOCK_H
#define TESTS_CUDA_CUDA_CLOCK_H

#include <stdint.h>

// From now on CLOCK_MONOTONIC goes on as the fake runtime's clock (tests/emulator/fake_runtime.h):
// reading it takes the host `reading` nanoseconds, waiting for the device as long as the device
// takes, and nothing else anything.
void cuda_clock_use(int64_t reading);
void cuda_clock_pass(int64_t nanoseconds); // the host is busy
int64_t cuda_clock_now(void);              // without reading it

#endif
