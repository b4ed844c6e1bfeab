// ex07_time_device.h -- exercise 07: who holds the stopwatch?
//
// WHY    A GPU works on its own. A launch hands it a kernel and returns after a few microseconds,
//        while the kernel runs for hundreds. If you read the clock before and after the launch, you
//        measure the launch, and a matrix product seems a hundred times faster than the machine
//        can be; such numbers have been published. If you wait and then read the clock, you measure
//        kernel, launch, wake-up and perhaps copies, all in one. The device has a stopwatch of its
//        own: events. You measure three separate times: kernel, copies, launch.
//
// TODO   Write time_device in exercises/ex07_time_device.c. The device is in
//        exercises/support/mock_device.h: read its first page.
//
// APPROACH (a number in brackets is a clause, which is graded on its own)
//   1. Refuse work without launches (below) [1]. Make four events.
//   2. Warm up: launch the kernel once or more, and wait with mock_synchronize. The first launch
//      loads the kernel; loading is not part of its time [2].
//   3. Put everything into the queue, with an event between any two parts:
//        event 0   copy bytes_in to the device (_async)
//        event 1   launch the kernel work->launches times
//        event 2   copy bytes_out to the host (_async)
//        event 3
//      and read CLOCK_MONOTONIC right before the first and right after the last of these launches:
//      the difference is the time that the launches cost your program [3]. From event 0 to event 3
//      your program only queues: no mock_synchronize, no mock_event_synchronize, and no copy
//      without _async, because such a copy waits until it has ended [4].
//   4. Call mock_synchronize. Only then has the device passed the events, and their times are known
//      [5]. It also reports a kernel that failed, in the warm-up or later: return that status [6].
//   5. copy_seconds   = elapsed(0, 1) + elapsed(2, 3)         both directions [7]
//      kernel_seconds = elapsed(1, 2) / launches              time of one run [8]
//      launch_seconds = clock difference / launches           time of one call [3]
//   6. Free each event once, on every way out [9].
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
//   * mock_event_elapsed gives seconds. STATUS_STATE from it means that you have not waited yet.
//   * Waiting after each launch would add the wake-up of your program to every kernel.
//   * Tolerance is 2 %.
#ifndef EXERCISES_EX07_TIME_DEVICE_H
#define EXERCISES_EX07_TIME_DEVICE_H

#include <stdint.h>

#include "exercises/support/mock_device.h"

typedef struct DeviceWork {
    int64_t bytes_in, bytes_out; // bytes to copy to the device before, to the host after
    const MockKernel *kernel;
    int64_t launches; // number of runs, at least 1, not counting the warm-up
} DeviceWork;

typedef struct DeviceTimes { // times in seconds
    double copy_seconds;     // both copies together, on the device
    double kernel_seconds;   // one run, on the device
    double launch_seconds;   // one mock_launch, in the program
} DeviceTimes;

// Returns STATUS_OK; STATUS_INVALID_ARGUMENT for launches < 1, without launching anything [1];
// STATUS_OUT_OF_MEMORY when mock_event_new returns NULL [10]; or the status of the mock_ function
// that failed [11], such as STATUS_DEVICE for a kernel. *times is only read with STATUS_OK.
Status time_device(MockDevice *device, const DeviceWork *work, DeviceTimes *times);

#endif
