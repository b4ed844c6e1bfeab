// cuda_clock.c -- the fake runtime's clock as the clock of all. helpers/virtual_clock.c replaces
// the C library's clock_gettime; the fake runtime has the clock itself.
#include "tests/cuda/cuda_clock.h"

#include "tensor/clock.h"
#include "tests/cuda/cuda_device.h"
#include "tests/helpers/virtual_clock.h"

static VirtualClock fake; // empty: use the system's

void cuda_clock_use(int64_t reading) {
    VirtualClock found = {.now = cuda_device_fake("fake_clock"),
                          .pass = cuda_device_fake("fake_pass"),
                          .reading = reading};
    found.pass(clock_nanoseconds() - found.now()); // so that the clock never goes back
    fake = found;
    virtual_clock_use(fake);
}

void cuda_clock_pass(int64_t nanoseconds) { fake.pass(nanoseconds); }

int64_t cuda_clock_now(void) { return fake.now(); }
