// ex07_time_device.c -- exercise 07, solved.
#include "exercises/ex07_time_device.h"

#include <stddef.h>
#include <time.h>

enum { EVENTS = 4 };

static Status warm_up(MockDevice *device, const MockKernel *kernel) {
    Status status = mock_launch(device, kernel);
    return status ? status : mock_synchronize(device);
}

static Status launch_all(MockDevice *device, const DeviceWork *work, double *seconds) {
    struct timespec start, end;
    Status status = STATUS_OK;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (int64_t i = 0; i < work->launches && !status; i++)
        status = mock_launch(device, work->kernel);
    clock_gettime(CLOCK_MONOTONIC, &end);
    *seconds = (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) * 1e-9;
    return status;
}

// event 0, copy in, event 1, launches, event 2, copy out, event 3
static Status queue_all(MockDevice *device, const DeviceWork *work, MockEvent *const events[EVENTS],
                        double *launching) {
    Status status = mock_event_record(events[0]);
    if (!status) status = mock_copy_to_device_async(device, work->bytes_in);
    if (!status) status = mock_event_record(events[1]);
    if (!status) status = launch_all(device, work, launching);
    if (!status) status = mock_event_record(events[2]);
    if (!status) status = mock_copy_to_host_async(device, work->bytes_out);
    if (!status) status = mock_event_record(events[3]);
    return status;
}

static Status measure(MockDevice *device, const DeviceWork *work, MockEvent *const events[EVENTS],
                      DeviceTimes *times) {
    double in = 0.0, kernels = 0.0, out = 0.0, launching = 0.0;
    Status status = warm_up(device, work->kernel);
    if (!status) status = queue_all(device, work, events, &launching);
    if (!status) status = mock_synchronize(device);
    if (!status) status = mock_event_elapsed(events[0], events[1], &in);
    if (!status) status = mock_event_elapsed(events[1], events[2], &kernels);
    if (!status) status = mock_event_elapsed(events[2], events[3], &out);
    times->copy_seconds = in + out;
    times->kernel_seconds = kernels / (double)work->launches;
    times->launch_seconds = launching / (double)work->launches;
    return status;
}

Status time_device(MockDevice *device, const DeviceWork *work, DeviceTimes *times) {
    if (work->launches < 1) return STATUS_INVALID_ARGUMENT;
    MockEvent *events[EVENTS];
    Status status = STATUS_OK;
    for (int i = 0; i < EVENTS; i++) {
        events[i] = mock_event_new(device);
        if (!events[i]) status = STATUS_OUT_OF_MEMORY;
    }
    if (!status) status = measure(device, work, events, times);
    for (int i = 0; i < EVENTS; i++) mock_event_free(events[i]);
    return status;
}
