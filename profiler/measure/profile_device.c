// profile_device.c -- measurements for a device with its own time or memory: phases by its own
// clock, a queue held back while it fills, and the copy of a batch.
#include <math.h>

#include "profiler/measure/profile_parts.h"
#include "tensor/clock.h"
#include "tensor/memory.h"

enum {
    STAMPS_TRIED = 32,
    MOST_COPIES = 50,
    FEWEST_COPIES = 10,
};
static const double most_hold = 0.1; // seconds

static Device *device_of(const Measurement *m) { return m->work->x->device; }

// ---- stamps ----------------------------------------------------------------------------------
// Measures the time a stamp takes on the device, which adds to any interval between stamps: here
// nothing lies between them. The queue is held back, so that the host's time does not count.
static Status measure_stamp(Measurement *m) {
    Device *device = device_of(m);
    int64_t at[STAMPS_TRIED], least = INT64_MAX;
    Status status = device->stamps_reserve(device, STAMPS_TRIED);
    m->launching = 1e-4;
    if (!status) status = profile_hold(m);
    for (int i = 0; i < STAMPS_TRIED && !status; i++) status = device->stamp(device, i);
    if (!status) status = device->stamps_read(device, STAMPS_TRIED, at);
    if (status) return status;
    for (int i = 1; i < STAMPS_TRIED; i++)
        if (at[i] - at[i - 1] < least) least = at[i] - at[i - 1];
    m->stamp = 1e-9 * (double)least;
    return STATUS_OK;
}

Status profile_begin_device(Measurement *m, int64_t samples) {
    Device *device = device_of(m);
    if (!device_has_stamps(device)) return STATUS_OK;
    if (timeline_has_stamps(device))
        return error_set(STATUS_STATE,
                         "profile: a recording has the time stamps of %s. HINT: stop it first",
                         device->name);
    m->profile->has_device_times = true;
    int64_t marks = work_stamps(m->work) * m->profile->steps_per_sample;
    m->marks = memory_new((size_t)marks * sizeof(int64_t));
    if (!m->marks) return STATUS_OUT_OF_MEMORY;
    Status status = latency_make_room(&m->profile->launch, samples);
    return status ? status : measure_stamp(m);
}

Status profile_reserve_marks(Measurement *m) {
    Device *device = device_of(m);
    if (!m->marks) return STATUS_OK;
    return device->stamps_reserve(device, work_stamps(m->work) * m->profile->steps_per_sample);
}

// Computes phase times from the marks of a sample: each batch's forward and backward in turn, then
// the optimizer, each minus the time of the stamps.
Status profile_mark_phases(Measurement *m, StepTimes *mean) {
    Device *device = device_of(m);
    int64_t steps = m->profile->steps_per_sample, stamps = work_stamps(m->work);
    double stamp = m->stamp * (double)work_batches(m->work);
    int64_t sums[3] = {0}; // forward, backward, optimizer
    Status status = device->stamps_read(device, stamps * steps, m->marks);
    if (status) return status;
    for (int64_t i = 0; i < steps; i++)
        for (int64_t p = 1; p < stamps; p++) {
            int phase = p == stamps - 1 ? 2 : p % 2 ? 0 : 1;
            sums[phase] += m->marks[stamps * i + p] - m->marks[stamps * i + p - 1];
        }
    mean->forward = fmax(0.0, 1e-9 * (double)sums[0] / (double)steps - stamp);
    mean->backward = fmax(0.0, 1e-9 * (double)sums[1] / (double)steps - stamp);
    mean->optimizer = fmax(0.0, 1e-9 * (double)sums[2] / (double)steps - m->stamp);
    return STATUS_OK;
}

// Holds the queue for 1.5 times the launch time, plus a constant.
Status profile_hold(const Measurement *m) {
    Device *device = device_of(m);
    double seconds = fmin(1.5 * m->launching + 50e-6, most_hold);
    return device->hold ? device->hold(device, (int64_t)(1e9 * seconds)) : STATUS_OK;
}

// ---- the batch -------------------------------------------------------------------------------
typedef struct Carried { // a tensor of the batch, and its bytes on the host
    Tensor *tensor;
    void *bytes;
} Carried;

static Status take_bytes(Carried *carried, Tensor *tensor) {
    size_t bytes = (size_t)tensor_bytes(tensor);
    *carried = (Carried){.tensor = tensor, .bytes = memory_new(bytes)};
    if (!carried->bytes) return STATUS_OUT_OF_MEMORY;
    return device_to_host(tensor->device, carried->bytes, tensor_raw(tensor), bytes);
}

// Copies the bytes back to their tensors, so the batch stays unchanged.
static Status carry(const Carried carried[2], double *seconds) {
    Status status = STATUS_OK;
    Device *device = carried[0].tensor->device;
    int64_t start = clock_nanoseconds();
    for (int i = 0; i < 2 && !status; i++) {
        Tensor *t = carried[i].tensor;
        if (t)
            status =
                device_from_host(device, tensor_raw(t), carried[i].bytes, (size_t)tensor_bytes(t));
    }
    if (!status) status = device_synchronize(device);
    *seconds = 1e-9 * (double)(clock_nanoseconds() - start);
    return status;
}

static Status time_copies(Measurement *m, const Carried carried[2]) {
    Profile *profile = m->profile;
    Status status = latency_make_room(&profile->batch_copy, MOST_COPIES);
    double start = clock_seconds(), seconds;
    if (!status) status = carry(carried, &seconds); // the first warms up
    for (int i = 0; i < MOST_COPIES && !status; i++) {
        if (i >= FEWEST_COPIES && clock_seconds() - start > 0.25 * m->options.seconds) break;
        status = carry(carried, &seconds);
        if (!status) latency_push(&profile->batch_copy, fmax(0.0, seconds - m->clock));
    }
    return status;
}

Status profile_measure_copy(Measurement *m) {
    Tensor *x = m->work->x, *labels = m->work->labels;
    if (x->device->on_host || !tensor_is_contiguous(x)) return STATUS_OK;
    if (labels && !tensor_is_contiguous(labels)) return STATUS_OK;
    Carried carried[2] = {{0}};
    Status status = take_bytes(&carried[0], x);
    if (!status && labels) status = take_bytes(&carried[1], labels);
    if (!status) status = time_copies(m, carried);
    for (int i = 0; i < 2; i++) memory_free(carried[i].bytes);
    if (!status)
        m->profile->batch_copy_bytes = tensor_bytes(x) + (labels ? tensor_bytes(labels) : 0);
    return status;
}
