// ex07_time_device.c -- exercise 07: kernels, copies and launches. The task is in
// ex07_time_device.h.
#include "exercises/ex07_time_device.h"

Status time_device(MockDevice *device, const DeviceWork *work, DeviceTimes *times) {
    // TODO: events; warm up; queue copies and launches with events between; wait; read the events.
    (void)device;
    (void)work;
    (void)times;
    return STATUS_NOT_IMPLEMENTED;
}
