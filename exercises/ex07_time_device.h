// ex07_time_device.h -- exercise 07: who holds the stopwatch?
//
// WHY    A GPU works for itself. A launch hands it a kernel and returns after a few microseconds,
//        while the kernel runs for hundreds. Whoever reads the clock before and after the launch
//        measures the launch, and finds a matrix product a hundred times faster than the machine
//        can be; such numbers have been published. Whoever waits and then reads the clock measures
//        kernel, launch, wake-up and perhaps copies, all in one. The device has a stopwatch of its
//        own: events. You measure three things that belong apart: kernel, copies, launch.
//
// TODO   Write time_device in exercises/ex07_time_device.c. The device is in
//        exercises/support/mock_device.h: read its first page.
//
// APPROACH (a number in brackets is a clause: something of its own that is graded)
//   1. Refuse work without launches (below) [1]. Make four events.
//   2. Warm up: launch the kernel once or more, and wait with mock_synchronize. The first launch
//      loads it; that is not its time [2].
//   3. Put everything into the queue, with an event between any two parts:
//        event 0   copy bytes_in to the device (_async)
//        event 1   launch the kernel work->launches times
//        event 2   copy bytes_out to the host (_async)
//        event 3
//      and read CLOCK_MONOTONIC right before the first and right after the last of these launches:
//      the difference is what the launches cost your program [3]. From event 0 to event 3 your
//      program only queues: no mock_synchronize, no mock_event_synchronize, and no copy without
//      _async, which waits until it has ended [4].
//   4. mock_synchronize: only now have the events been passed, and their times are known [5]. It
//      also tells when a kernel failed, in the warm-up or later: give that status back [6].
//   5. copy_seconds   = elapsed(0, 1) + elapsed(2, 3)         both directions [7]
//      kernel_seconds = elapsed(1, 2) / launches              of one run [8]
//      launch_seconds = clock difference / launches           of one call [3]
//   6. Free the events, on every way out, and each once [9].
//
// EXAMPLE
//   25 GB/s and 10 us per copy; 4 us per launch; the kernel runs for 500 us; 10 launches;
//   100,000,000 bytes in, 25,000,000 bytes out:
//       copies  10 us + 0.1 GB / 25 GB/s = 4.010 ms,  10 us + 1 ms = 1.010 ms  -> 0.005020 s
//       kernel  10 * 500 us = 5 ms on the device, / 10                         -> 0.000500 s
//       launch  10 * 4 us = 40 us for the program, / 10                        -> 0.000004 s
//   The clock around the ten launches says 40 us for 5 ms of work: 125 times too fast.
//
// HINTS
//   * Every mock_ function that can fail returns a Status. A small function that does the queueing
//     and returns at the first failure keeps the freeing in one place.
//   * mock_event_elapsed gives seconds. STATUS_STATE from it means: you have not waited yet.
//   * Waiting after each launch would add the wake-up of your program to every kernel.
//   * Tolerance is 2 %.
#ifndef EXERCISES_EX07_TIME_DEVICE_H
#define EXERCISES_EX07_TIME_DEVICE_H

#include <stdint.h>

#include "exercises/support/mock_device.h"

typedef struct DeviceWork {
    int64_t bytes_in, bytes_out; // to be copied to the device before, and to the host after
    const MockKernel *kernel;
    int64_t launches; // how often it is to run, at least 1; the warm-up is not among them
} DeviceWork;

typedef struct DeviceTimes { // seconds
    double copy_seconds;     // of both copies, on the device
    double kernel_seconds;   // of one run, on the device
    double launch_seconds;   // of one mock_launch, in the program
} DeviceTimes;

// STATUS_OK; STATUS_INVALID_ARGUMENT for launches < 1, and nothing is launched [1];
// STATUS_OUT_OF_MEMORY when there is no event [10]; and whatever a mock_ function returned [11],
// STATUS_DEVICE for a kernel that failed. *times is only read with STATUS_OK.
Status time_device(MockDevice *device, const DeviceWork *work, DeviceTimes *times);

#endif
