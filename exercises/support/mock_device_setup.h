// mock_device_setup.h -- makes mock devices and kernels: for what calls student code, not for it.
#ifndef EXERCISES_SUPPORT_MOCK_DEVICE_SETUP_H
#define EXERCISES_SUPPORT_MOCK_DEVICE_SETUP_H

#include "exercises/support/input.h"
#include "exercises/support/mock_device.h"

typedef struct MockDeviceTimes {  // picoseconds
    int64_t launch;               // what the program spends in a launch or an _async copy
    int64_t record;               // and in recording an event
    int64_t wake_up;              // from the end of the work until a waiting program runs again
    int64_t load;                 // that the first kernel waits to be loaded
    int64_t copy_latency;         // of any copy, before its first byte
    int64_t copy_ps_per_kilobyte; // 1,000 bytes; 25 GB/s: 40,000
} MockDeviceTimes;

struct MockKernel {
    int64_t picoseconds;
    bool fails;
};

// On this thread's virtual clock. NULL: out of memory.
MockDevice *mock_device_new(MockDeviceTimes times);
void mock_device_free(MockDevice *device);              // with events that are left
int64_t mock_device_events(const MockDevice *device);   // live
int64_t mock_device_launches(const MockDevice *device); // so far

// In an input line (input.h).
void mock_device_times_write(const MockDeviceTimes *times, char *text, size_t size);
MockDeviceTimes mock_device_times_read(const char *input);

// What the device needs for a copy.
int64_t mock_copy_ps(const MockDeviceTimes *times, int64_t bytes);

#endif
