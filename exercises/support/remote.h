// remote.h -- what a worker asks its grader for, and tells it: clocks, work, a device, layers that
// take time, and the counts of earlier exercises. Nothing here knows how long anything takes. Made
// for call files and for the lab_ names that a student's calls are redirected to.
#ifndef EXERCISES_SUPPORT_REMOTE_H
#define EXERCISES_SUPPORT_REMOTE_H

#include <sys/time.h>
#include <time.h>

#include "exercises/support/worker.h"
#include "layers/train/optimizer.h"

typedef enum RemoteNote { // told, in order; about a subject
    NOTE_WORK,            // the work ran once
    NOTE_SLEEP,           // subject: nanoseconds
    NOTE_LAUNCH,          // subject: the kernel
    NOTE_COPY,            // subject: bytes, into the queue; to the device
    NOTE_COPY_OUT,        // to the host
    NOTE_EVENT_RECORD,    // subject: the event
    NOTE_EVENT_FREE,
    NOTE_FORWARD, // subject: number of the layer in the model
    NOTE_ZERO_GRAD,
    NOTE_LOSS,
    NOTE_BACKWARD,
    NOTE_OPTIMIZER,
    NOTE_COUNT
} RemoteNote;

typedef enum RemoteCall { // asked: arguments -> answer; answer[0] is a Status
    CALL_CLOCK_READ,      // clock id -> seconds, nanoseconds
    CALL_CLOCK_STEP,      // clock id -> seconds, nanoseconds
    CALL_SYNCHRONIZE,     // the queue is empty
    CALL_COPY_WAIT,       // bytes; to the device
    CALL_COPY_OUT_WAIT,   // to the host
    CALL_EVENT_NEW,       // -> its number
    CALL_EVENT_WAIT,      // event
    CALL_EVENT_ELAPSED,   // two events -> bits of seconds
    CALL_FLOPS,           // layer, sizes -> FLOPs of one sample
    CALL_BYTES,           // layer, sizes -> bytes read, written
    CALL_ROOFLINE,        // flops, bytes, three reals' bits -> four reals' bits, bound
    CALL_COUNT
} RemoteCall;

// Something to measure, for void (*)(void *) parameters: it tells that it ran.
void remote_work(void *unused);

// The one device of a run and its one kernel: handles with nothing in them.
typedef struct MockDevice MockDevice;
typedef struct MockKernel MockKernel;
MockDevice *remote_device(void);
const MockKernel *remote_kernel(void);

typedef enum RemoteDeviceCall { // those that return a Status
    REMOTE_NONE,
    REMOTE_LAUNCH,
    REMOTE_COPY_IN, // waited for or not
    REMOTE_COPY_OUT,
    REMOTE_WAIT, // for all, or for an event
    REMOTE_RECORD,
    REMOTE_ELAPSED,
    REMOTE_CALLS
} RemoteDeviceCall;

// From now on event number `no_event` is NULL, and call number `refused` is not made and returns
// `status`; both from 1, 0: none. The grader is not asked, and its record holds nothing of it.
void remote_device_start(int64_t no_event, int64_t refused, Status status);
// Since then: events asked for, calls made, and what the refused one was.
int64_t remote_device_events(void);
int64_t remote_device_calls(void);
RemoteDeviceCall remote_device_refused(void);

// The model of a text (model_line.h), on meta, and its input's shape; NULL with an error pending.
// From now on layers are known by their place in it, each before its children. Nobody keeps account
// of its memory, where its sizes could be read without walking it; so it is never freed.
Layer *remote_model(const char *text, Shape *input);
int64_t remote_layer_number(const Layer *layer); // -1: it is none of the model's

// ---- calls that fail (remote_failures.c) --------------------------------------------------------
// Calls `function` again and again: first its first call of layer_forward, loss_cross_entropy,
// autograd_backward, optimizer_step or a count fails with STATUS_DEVICE, then its second, and so
// on; then its allocations, likewise; at last nothing does. All of a run is answered: STATUS_OK,
// and four values. The status of the last call; the first call whose failure was not told, or after
// which the engine was called again (1, 2, ...); the first allocation, likewise, which
// STATUS_OUT_OF_MEMORY tells (both 0: none); the blocks that some call did not free.
void remote_answer_failures(Answer *answer, Status (*function)(void *), void *argument);
// Whether the call that asks has to fail now.
bool remote_fails(void);
// The same, with an error pending.
bool remote_breaks(const char *call);

// ---- what a student's calls are redirected to ---------------------------------------------------
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
