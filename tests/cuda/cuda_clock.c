// cuda_clock.c -- stands in for the C library's clock_gettime. Not here: the fake runtime's clock.
#include "tests/cuda/cuda_clock.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tensor/clock.h"
#include "tests/cuda/cuda_device.h"

static int64_t reading_takes;
static int64_t (*fake_clock)(void); // NULL: the system's is used
static void (*fake_pass)(int64_t nanoseconds);

void cuda_clock_use(int64_t reading) {
    fake_pass = cuda_device_fake("fake_pass");
    int64_t (*clock)(void) = cuda_device_fake("fake_clock");
    fake_pass(clock_nanoseconds() - clock()); // so that what was read before was read earlier
    reading_takes = reading;
    fake_clock = clock;
}

void cuda_clock_pass(int64_t nanoseconds) { fake_pass(nanoseconds); }

int64_t cuda_clock_now(void) { return fake_clock(); }

int clock_gettime(clockid_t clock, struct timespec *time) {
    if (clock != CLOCK_MONOTONIC || !fake_clock)
        return (int)syscall(SYS_clock_gettime, clock, time);
    fake_pass(reading_takes);
    int64_t now = fake_clock();
    *time = (struct timespec){.tv_sec = now / 1000000000, .tv_nsec = now % 1000000000};
    return 0;
}
