// remote.h -- a worker's questions and reports to its grader: clocks, work, a device, layers that
// take time, and the counts of earlier exercises. Nothing here knows how long anything takes. Used
// by call files and by the lab_ functions to which a student's calls are redirected.
#ifndef EXERCISES_SUPPORT_REMOTE_H
#define EXERCISES_SUPPORT_REMOTE_H

#include <sys/time.h>
#include <time.h>

#include "exercises/support/worker.h"
#include "layers/train/optimizer.h"

typedef enum RemoteNote { // reports, in order; each has a subject
    NOTE_WORK,            // the work ran once
    NOTE_SLEEP,           // subject: nanoseconds
    NOTE_LAUNCH,          // subject: the kernel
    NOTE_COPY,            // a copy to the device was queued; subject: bytes
    NOTE_COPY_OUT,        // a copy to the host was queued; subject: bytes
    NOTE_EVENT_RECORD,    // subject: the event
    NOTE_EVENT_FREE,
    NOTE_FORWARD, // subject: number of the layer in the model
    NOTE_ZERO_GRAD,
    NOTE_LOSS,
    NOTE_BACKWARD,
    NOTE_OPTIMIZER,
    NOTE_COUNT
} RemoteNote;

typedef enum RemoteCall { // questions: arguments -> answer; answer[0] is a Status
    CALL_CLOCK_READ,      // clock id -> seconds, nanoseconds
    CALL_CLOCK_STEP,      // clock id -> seconds, nanoseconds
    CALL_SYNCHRONIZE,     // waits until the queue is empty
    CALL_COPY_WAIT,       // bytes, copied to the device
    CALL_COPY_OUT_WAIT,   // bytes, copied to the host
    CALL_EVENT_NEW,       // -> number of the event
    CALL_EVENT_WAIT,      // event
    CALL_EVENT_ELAPSED,   // two events -> bits of seconds
    CALL_FLOPS,           // layer, sizes -> FLOPs of one sample
    CALL_BYTES,           // layer, sizes -> bytes read, written
    CALL_ROOFLINE,        // flops, bytes, three reals' bits -> four reals' bits, bound
    CALL_COUNT
} RemoteCall;

// Work to measure, for void (*)(void *) parameters: it reports that it ran.
void remote_work(void *unused);

// The one device of a run and its one kernel: handles without content.
typedef struct MockDevice MockDevice;
typedef struct MockKernel MockKernel;
MockDevice *remote_device(void);
const MockKernel *remote_kernel(void);

typedef enum RemoteDeviceCall { // device calls that return a Status
    REMOTE_NONE,
    REMOTE_LAUNCH,
    REMOTE_COPY_IN, // with or without _async
    REMOTE_COPY_OUT,
    REMOTE_WAIT, // for the whole queue, or for an event
    REMOTE_RECORD,
    REMOTE_ELAPSED,
    REMOTE_CALLS
} RemoteDeviceCall;

// From now on event number `no_event` is NULL, and call number `refused` only returns `status`;
// both count from 1, 0: none. The grader neither sees nor records these.
void remote_device_start(int64_t no_event, int64_t refused, Status status);
// Since remote_device_start: events requested, calls made, and the kind of the refused call.
int64_t remote_device_events(void);
int64_t remote_device_calls(void);
RemoteDeviceCall remote_device_refused(void);

// The model of a text (model_line.h), on meta, and its input's shape; NULL with an error pending.
// From now on layers have numbers by their place in it, each before its children. The model's
// memory is in no account, from which its sizes could be read without a walk; so it is never freed.
Layer *remote_model(const char *text, Shape *input);
int64_t remote_layer_number(const Layer *layer); // -1: the layer is not in the model

// ---- calls that fail (remote_failures.c) --------------------------------------------------------
// Calls `function` repeatedly. First its first call of layer_forward, loss_cross_entropy,
// autograd_backward, optimizer_step or a count fails with STATUS_DEVICE, then its second, and so
// on; then its allocations fail one by one; at last nothing fails. The answer is STATUS_OK and four
// values: the status of the last call; the first failed call (1, 2, ...; 0: none) whose status was
// lost, or after which the engine was called again; the same for allocations, whose status is
// STATUS_OUT_OF_MEMORY; the number of blocks that were not freed.
void remote_answer_failures(Answer *answer, Status (*function)(void *), void *argument);
// True if the calling function must fail now.
bool remote_fails(void);
// Like remote_fails, and leaves an error pending.
bool remote_breaks(const char *call);

// ---- targets of a student's redirected calls ----------------------------------------------------
int lab_clock_gettime(clockid_t id, struct timespec *now);
int lab_clock_getres(clockid_t id, struct timespec *step);
int lab_timespec_get(struct timespec *now, int base);
time_t lab_time(time_t *now);
int lab_gettimeofday(struct timeval *now, void *zone);
clock_t lab_clock(void);
int lab_nanosleep(const struct timespec *wanted, struct timespec *left);
Tensor *lab_layer_forward(Layer *self, Tensor *x);
Tensor *lab_layer_forward_many(Layer *self, Tensor *const in[], int n_in);
Tensor *lab_loss_cross_entropy(Tensor *logits, Tensor *labels);
Status lab_autograd_backward(Tensor *loss);
void lab_optimizer_zero_grad(Optimizer *optimizer);
Status lab_optimizer_step(Optimizer *optimizer);

#endif
