// ex07_time_device_call.c -- exercise 07 in the worker: a mock device on the virtual clock.
#include "exercises/course/ex07_values.h"
#include "exercises/ex07_time_device.h"
#include "exercises/grader/worker.h"
#include "exercises/support/mock_device_setup.h"
#include "exercises/support/virtual_work.h"

static void send(Answer *answer, int64_t ask, const DeviceTimes *times, int64_t events) {
    if (ask & ASK_KERNEL) answer_real(answer, times->kernel_seconds);
    if (ask & ASK_COPY) answer_real(answer, times->copy_seconds);
    if (ask & ASK_LAUNCH) answer_real(answer, times->launch_seconds);
    if (ask & ASK_EVENTS) answer_integer(answer, events);
}

Status time_device_call(const char *input, Answer *answer);
Status time_device_call(const char *input, Answer *answer) {
    MockKernel kernel = {.picoseconds = input_integer(input, "kernel", 0),
                         .fails = input_integer(input, "fails", 0) != 0};
    DeviceWork work = {.bytes_in = input_integer(input, "bytes_in", 0),
                       .bytes_out = input_integer(input, "bytes_out", 0),
                       .kernel = &kernel,
                       .launches = input_integer(input, "launches", 0)};
    DeviceTimes times = {POISON_REAL, POISON_REAL, POISON_REAL};
    virtual_clock_start(virtual_clock_read(input));
    MockDevice *device = mock_device_new(mock_device_times_read(input));
    if (!device) return STATUS_OUT_OF_MEMORY;
    answer_begin(answer);
    Status status = time_device(device, &work, &times);
    answer_status(answer, status);
    int64_t ask = input_integer(input, "ask", 0);
    if (!status) send(answer, ask, &times, mock_device_events(device));
    mock_device_free(device);
    error_clear(); // a failed kernel's
    return STATUS_OK;
}
