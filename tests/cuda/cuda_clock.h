// cuda_clock.h -- one clock for the host and the emulated device, so that times are exact.
#ifndef TESTS_CUDA_CUDA_CLOCK_H
#define TESTS_CUDA_CUDA_CLOCK_H

#include <stdint.h>

// Makes CLOCK_MONOTONIC follow the fake runtime's clock (tests/emulator/fake_runtime.h): a reading
// takes the host `reading` nanoseconds, waiting for the device takes as long as the device does,
// and nothing else takes time.
void cuda_clock_use(int64_t reading);
void cuda_clock_pass(int64_t nanoseconds); // busy host
int64_t cuda_clock_now(void);              // costs no reading

#endif
