// cuda_clock.c -- the fake runtime's clock as everybody's. Not here: standing in for the C
// library's clock_gettime (helpers/virtual_clock.c), nor that clock itself.
#include "tests/cuda/cuda_clock.h"

#include "tensor/clock.h"
#include "tests/cuda/cuda_device.h"
#include "tests/helpers/virtual_clock.h"

static VirtualClock fake; // empty: the system's is used

void cuda_clock_use(int64_t reading) {
    VirtualClock found = {.now = cuda_device_fake("fake_clock"),
                          .pass = cuda_device_fake("fake_pass"),
                          .reading = reading};
    found.pass(clock_nanoseconds() - found.now()); // so that what was read before was read earlier
    fake = found;
    virtual_clock_use(fake);
}

void cuda_clock_pass(int64_t nanoseconds) { fake.pass(nanoseconds); }

int64_t cuda_clock_now(void) { return fake.now(); }
