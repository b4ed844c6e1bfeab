// mock_device.c -- a queue in which each piece of work has the time at which it will have ended.
// Nothing runs: when work is queued, its end is known, because all before it has one.
#include <stdlib.h>

#include "exercises/support/mock_device_setup.h"
#include "exercises/support/virtual_clock.h"

struct MockEvent {
    MockDevice *device;
    MockEvent *next;
    bool recorded;
    int64_t at; // when the device gets there
};

struct MockDevice {
    MockDeviceTimes times;
    int64_t end;    // of what is queued
    int64_t waited; // the program has seen the device get so far
    int64_t launches, events;
    bool failed;       // a kernel did, and nobody was told
    MockEvent *newest; // list of those that are live
};

MockDevice *mock_device_new(MockDeviceTimes times) {
    MockDevice *device = calloc(1, sizeof *device);
    if (device) device->times = times;
    return device;
}

void mock_device_free(MockDevice *device) {
    while (device && device->newest) mock_event_free(device->newest);
    free(device);
}

int64_t mock_device_events(const MockDevice *device) { return device->events; }
int64_t mock_device_launches(const MockDevice *device) { return device->launches; }

int64_t mock_copy_ps(const MockDeviceTimes *times, int64_t bytes) {
    return times->copy_latency + bytes * times->copy_ps_per_kilobyte / 1000;
}

static const InputField fields[] = {
    {"launch", offsetof(MockDeviceTimes, launch)},
    {"record", offsetof(MockDeviceTimes, record)},
    {"wake_up", offsetof(MockDeviceTimes, wake_up)},
    {"load", offsetof(MockDeviceTimes, load)},
    {"latency", offsetof(MockDeviceTimes, copy_latency)},
    {"kilobyte", offsetof(MockDeviceTimes, copy_ps_per_kilobyte)},
};
enum { FIELDS = sizeof fields / sizeof fields[0] };

void mock_device_times_write(const MockDeviceTimes *times, char *text, size_t size) {
    input_write(fields, FIELDS, times, text, size);
}

MockDeviceTimes mock_device_times_read(const char *input) {
    MockDeviceTimes times = {0};
    input_read(fields, FIELDS, input, &times);
    return times;
}

// The call takes the program so long; then the work begins when the device is free.
static void queue(MockDevice *device, int64_t call, int64_t work) {
    virtual_clock_work(call);
    int64_t now = virtual_clock_now();
    device->end = (device->end > now ? device->end : now) + work;
}

static Status wait_until(MockDevice *device, int64_t at) {
    int64_t now = virtual_clock_now();
    if (at > now) virtual_clock_wait(at - now + device->times.wake_up);
    if (at > device->waited) device->waited = at;
    bool failed = device->failed;
    device->failed = false;
    if (!failed) return STATUS_OK;
    return error_set(STATUS_DEVICE, "mock device: a kernel failed. HINT: it was one of those "
                                    "launched since the last wait");
}

Status mock_launch(MockDevice *device, const MockKernel *kernel) {
    int64_t load = device->launches++ == 0 ? device->times.load : 0;
    queue(device, device->times.launch, load + kernel->picoseconds);
    if (kernel->fails) device->failed = true;
    return STATUS_OK;
}

static Status copy(MockDevice *device, int64_t bytes) {
    if (bytes < 0)
        return error_set(STATUS_INVALID_ARGUMENT,
                         "mock device: a copy of %lld bytes. HINT: at least 0", (long long)bytes);
    queue(device, device->times.launch, mock_copy_ps(&device->times, bytes));
    return STATUS_OK;
}

Status mock_copy_to_device_async(MockDevice *device, int64_t bytes) { return copy(device, bytes); }
Status mock_copy_to_host_async(MockDevice *device, int64_t bytes) { return copy(device, bytes); }

Status mock_copy_to_device(MockDevice *device, int64_t bytes) {
    Status status = copy(device, bytes);
    return status ? status : mock_synchronize(device);
}

Status mock_copy_to_host(MockDevice *device, int64_t bytes) {
    return mock_copy_to_device(device, bytes);
}

Status mock_synchronize(MockDevice *device) { return wait_until(device, device->end); }

// ---- events ------------------------------------------------------------------------------------
MockEvent *mock_event_new(MockDevice *device) {
    MockEvent *event = calloc(1, sizeof *event);
    if (!event) return NULL;
    *event = (MockEvent){.device = device, .next = device->newest};
    device->newest = event;
    device->events++;
    return event;
}

void mock_event_free(MockEvent *event) {
    if (!event) return;
    MockEvent **link = &event->device->newest;
    while (*link != event) link = &(*link)->next;
    *link = event->next;
    event->device->events--;
    free(event);
}

Status mock_event_record(MockEvent *event) {
    queue(event->device, event->device->times.record, 0);
    event->recorded = true;
    event->at = event->device->end;
    return STATUS_OK;
}

Status mock_event_synchronize(MockEvent *event) {
    if (event->recorded) return wait_until(event->device, event->at);
    return error_set(STATUS_STATE, "mock_event_synchronize: the event was never recorded. HINT: "
                                   "mock_event_record puts it into the queue");
}

Status mock_event_elapsed(const MockEvent *start, const MockEvent *stop, double *seconds) {
    const MockEvent *const both[] = {start, stop};
    for (int i = 0; i < 2; i++) {
        if (both[i]->recorded && both[i]->at <= both[i]->device->waited) continue;
        return error_set(STATUS_STATE,
                         "mock_event_elapsed: the %s event was not waited for. HINT: "
                         "mock_event_synchronize, or mock_synchronize, first",
                         i == 0 ? "first" : "second");
    }
    *seconds = (double)(stop->at - start->at) / (double)PICOSECONDS_PER_SECOND;
    return STATUS_OK;
}
