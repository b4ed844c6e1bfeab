// ex07_time_device_call.c -- exercise 07 in the worker: device and clock are the grader's; the
// worker itself makes an event NULL or refuses a call.
#include "exercises/course/values.h"
#include "exercises/ex07_time_device.h"
#include "exercises/support/input.h"
#include "exercises/support/remote.h"
#include "exercises/support/worker.h"

static Status call_once(const DeviceWork *work, DeviceTimes *times) {
    *times = (DeviceTimes){POISON_REAL, POISON_REAL, POISON_REAL};
    Status status = time_device(remote_device(), work, times);
    error_clear(); // the device's error
    return status;
}

// Calls the function again with its first event NULL, its second, ...; 1: it overlooks a NULL.
static int64_t without_events(const DeviceWork *work) {
    enum { MOST = 16 };
    DeviceTimes times;
    int64_t unnoticed = 0, events = remote_device_events();
    for (int64_t nth = 1; nth <= events && nth <= MOST; nth++) {
        remote_device_start(nth, 0, STATUS_OK);
        if (call_once(work, &times) != STATUS_OUT_OF_MEMORY) unnoticed = 1;
    }
    return unnoticed;
}

// Calls the function again with its first device call refused, its second, and so on. Returns the
// first whose status was lost: STATUS_IO, which nothing else here returns.
static RemoteDeviceCall with_refusals(const DeviceWork *work) {
    enum { MOST = 64 };
    DeviceTimes times;
    int64_t calls = remote_device_calls();
    for (int64_t nth = 1; nth <= calls && nth <= MOST; nth++) {
        remote_device_start(0, nth, STATUS_IO);
        if (call_once(work, &times) != STATUS_IO) return remote_device_refused();
    }
    return REMOTE_NONE;
}

Status time_device_call(const char *input, Answer *answer);
Status time_device_call(const char *input, Answer *answer) {
    DeviceWork work = {.bytes_in = input_integer(input, "bytes_in", 0),
                       .bytes_out = input_integer(input, "bytes_out", 0),
                       .kernel = remote_kernel(),
                       .launches = input_integer(input, "launches", 0)};
    int64_t ask = input_integer(input, "ask", 0), unnoticed = 0, lost = REMOTE_NONE;
    DeviceTimes times;
    remote_device_start(0, 0, STATUS_OK);
    answer_begin(answer);
    Status status = call_once(&work, &times);
    if (!status && (ask & DEVICE_ASK_NO_EVENT)) unnoticed = without_events(&work);
    if (!status && (ask & DEVICE_ASK_REFUSED)) lost = with_refusals(&work);
    answer_status(answer, status);
    if (status) return STATUS_OK;
    if (ask & DEVICE_ASK_KERNEL) answer_real(answer, times.kernel_seconds);
    if (ask & DEVICE_ASK_COPY) answer_real(answer, times.copy_seconds);
    if (ask & DEVICE_ASK_LAUNCH) answer_real(answer, times.launch_seconds);
    if (ask & DEVICE_ASK_NO_EVENT) answer_integer(answer, unnoticed);
    if (ask & DEVICE_ASK_REFUSED) answer_integer(answer, lost);
    return STATUS_OK;
}
