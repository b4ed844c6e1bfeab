// remote_device.c -- the mock device as a student's code sees it (mock_device.h): the handles are
// here, the queue and its times in the grader. Calls that shall fail never reach the grader.
#include <string.h>

#include "exercises/support/mock_device.h"
#include "exercises/support/remote.h"
#include "exercises/support/worker.h"

enum { MOST_EVENTS = 4096 };

struct MockDevice {
    char nothing;
};
struct MockKernel {
    char nothing;
};
struct MockEvent { // never reused, so that a freed handle stays recognisable
    int64_t number;
};

static MockDevice device;
static const MockKernel kernel;
static MockEvent events[MOST_EVENTS];

static struct {
    int64_t events_made, no_event; // since remote_device_start; the one that fails, from 1
    int64_t calls, refused;
    Status status; // status of the refused call
    RemoteDeviceCall refused_call;
} state;

MockDevice *remote_device(void) { return &device; }
const MockKernel *remote_kernel(void) { return &kernel; }

void remote_device_start(int64_t no_event, int64_t refused, Status status) {
    memset(&state, 0, sizeof state);
    state.no_event = no_event;
    state.refused = refused;
    state.status = status;
}

int64_t remote_device_events(void) { return state.events_made; }
int64_t remote_device_calls(void) { return state.calls; }
RemoteDeviceCall remote_device_refused(void) { return state.refused_call; }

// Counts a call. STATUS_OK: make it; else the status to return instead.
static Status begin(RemoteDeviceCall call) {
    if (++state.calls != state.refused) return STATUS_OK;
    state.refused_call = call;
    return error_set(state.status, "mock device: call %lld is refused. HINT: give its status back",
                     (long long)state.calls);
}

static Status ask(RemoteCall call, const int64_t *arguments, int count) {
    int64_t answer[WORKER_ANSWER];
    worker_call(call, arguments, count, answer);
    Status status = (Status)answer[0];
    if (status == STATUS_OK) return STATUS_OK;
    return error_set(status, "mock device: %s. HINT: mock_device.h says when that is",
                     status_text(status));
}

// ---- work --------------------------------------------------------------------------------------
Status mock_launch(MockDevice *on, const MockKernel *launched) {
    (void)on;
    Status status = begin(REMOTE_LAUNCH);
    if (status) return status;
    if (launched != &kernel)
        return error_set(STATUS_INVALID_ARGUMENT, "mock_launch: that is no kernel. HINT: "
                                                  "work->kernel is one");
    worker_note(NOTE_LAUNCH, 0);
    return STATUS_OK;
}

static Status check_bytes(int64_t bytes) {
    if (bytes >= 0) return STATUS_OK;
    return error_set(STATUS_INVALID_ARGUMENT, "mock device: a copy of %lld bytes. HINT: at least 0",
                     (long long)bytes);
}

static Status copy(RemoteDeviceCall which, RemoteNote note, int64_t bytes) {
    Status status = begin(which);
    if (!status) status = check_bytes(bytes);
    if (!status) worker_note(note, bytes);
    return status;
}

static Status copy_and_wait(RemoteDeviceCall which, RemoteCall call, int64_t bytes) {
    Status status = begin(which);
    if (!status) status = check_bytes(bytes);
    return status ? status : ask(call, &bytes, 1);
}

Status mock_copy_to_device(MockDevice *on, int64_t bytes) {
    return (void)on, copy_and_wait(REMOTE_COPY_IN, CALL_COPY_WAIT, bytes);
}
Status mock_copy_to_host(MockDevice *on, int64_t bytes) {
    return (void)on, copy_and_wait(REMOTE_COPY_OUT, CALL_COPY_OUT_WAIT, bytes);
}
Status mock_copy_to_device_async(MockDevice *on, int64_t bytes) {
    return (void)on, copy(REMOTE_COPY_IN, NOTE_COPY, bytes);
}
Status mock_copy_to_host_async(MockDevice *on, int64_t bytes) {
    return (void)on, copy(REMOTE_COPY_OUT, NOTE_COPY_OUT, bytes);
}

Status mock_synchronize(MockDevice *on) {
    (void)on;
    Status status = begin(REMOTE_WAIT);
    return status ? status : ask(CALL_SYNCHRONIZE, NULL, 0);
}

// ---- events ------------------------------------------------------------------------------------
MockEvent *mock_event_new(MockDevice *on) {
    int64_t answer[WORKER_ANSWER];
    (void)on;
    if (++state.events_made == state.no_event) return NULL;
    worker_call(CALL_EVENT_NEW, NULL, 0, answer);
    if (answer[0] != STATUS_OK || answer[1] < 0 || answer[1] >= MOST_EVENTS) return NULL;
    events[answer[1]].number = answer[1];
    return &events[answer[1]];
}

void mock_event_free(MockEvent *event) {
    if (event) worker_note(NOTE_EVENT_FREE, event->number);
}

static Status check_event(const MockEvent *event) {
    if (event) return STATUS_OK;
    return error_set(STATUS_INVALID_ARGUMENT, "mock device: an event is NULL. HINT: "
                                              "mock_event_new found no memory for it");
}

Status mock_event_record(MockEvent *event) {
    Status status = begin(REMOTE_RECORD);
    if (!status) status = check_event(event);
    if (!status) worker_note(NOTE_EVENT_RECORD, event->number);
    return status;
}

Status mock_event_synchronize(MockEvent *event) {
    Status status = begin(REMOTE_WAIT);
    if (!status) status = check_event(event);
    return status ? status : ask(CALL_EVENT_WAIT, &event->number, 1);
}

Status mock_event_elapsed(const MockEvent *start, const MockEvent *stop, double *seconds) {
    Status status = begin(REMOTE_ELAPSED);
    if (!status) status = check_event(start);
    if (!status) status = check_event(stop);
    if (status) return status;
    const int64_t both[] = {start->number, stop->number};
    int64_t answer[WORKER_ANSWER];
    worker_call(CALL_EVENT_ELAPSED, both, 2, answer);
    if (answer[0] != STATUS_OK)
        return error_set((Status)answer[0],
                         "mock_event_elapsed: an event was not waited for. HINT: "
                         "mock_event_synchronize, or mock_synchronize, first");
    memcpy(seconds, &answer[1], sizeof *seconds);
    return STATUS_OK;
}
