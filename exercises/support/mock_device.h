// mock_device.h -- a device like a GPU, but without arithmetic: it works through a queue while the
// program goes on. Its time is virtual (the clock that you read with clock_gettime), so that your
// measurements are the same on every machine.
//
//   * mock_launch and the copies ending in _async put work into the queue and return after a few
//     microseconds, long before the work is done. The device does it in the order of the queue, one
//     thing after the other, each as soon as the one before it has ended.
//   * A program waits for the device only on request: mock_synchronize waits until the queue is
//     empty, mock_event_synchronize until the device has passed an event. A copy without _async
//     waits until the copy (and all work before it) has ended.
//   * An event is a mark in the queue. The device notes the time when it reaches the mark; the time
//     between two events is the device's own, whatever the program does meanwhile.
//   * The first launch of a program takes longer: the kernel has to be loaded.
//   * A kernel that fails does so on the device, when nobody is waiting. The error comes back from
//     the next call that waits, once; a launch still says STATUS_OK.
//
//     MockEvent *start = mock_event_new(device), *stop = mock_event_new(device);
//     mock_event_record(start);
//     mock_launch(device, kernel);
//     mock_event_record(stop);
//     mock_event_synchronize(stop);                  // before this its time is not known
//     mock_event_elapsed(start, stop, &seconds);
#ifndef EXERCISES_SUPPORT_MOCK_DEVICE_H
#define EXERCISES_SUPPORT_MOCK_DEVICE_H

#include <stdint.h>

#include "tensor/status.h"

typedef struct MockDevice MockDevice;
typedef struct MockKernel MockKernel; // a function that runs on the device
typedef struct MockEvent MockEvent;

// ---- work --------------------------------------------------------------------------------------
Status mock_launch(MockDevice *device, const MockKernel *kernel);
Status mock_copy_to_device(MockDevice *device, int64_t bytes);
Status mock_copy_to_host(MockDevice *device, int64_t bytes);
Status mock_copy_to_device_async(MockDevice *device, int64_t bytes);
Status mock_copy_to_host_async(MockDevice *device, int64_t bytes);

// ---- waiting -----------------------------------------------------------------------------------
// STATUS_DEVICE: a kernel failed since the last wait.
Status mock_synchronize(MockDevice *device);
Status mock_event_synchronize(MockEvent *event); // STATUS_STATE: the event was never recorded

// ---- events ------------------------------------------------------------------------------------
MockEvent *mock_event_new(MockDevice *device); // yours; NULL: out of memory
void mock_event_free(MockEvent *event);        // NULL is fine
Status mock_event_record(MockEvent *event);    // into its device's queue; once more moves the mark
// Stores the seconds (not milliseconds) between two events. STATUS_STATE: as far as the program has
// waited, the device has not reached both of them yet; *seconds is then not written.
Status mock_event_elapsed(const MockEvent *start, const MockEvent *stop, double *seconds);

#endif
