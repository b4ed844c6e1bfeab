// fake_events.cpp -- events of the fake CUDA runtime: marks in streams, with the time of the fake
// clock at which they were passed.
#include "tests/emulator/fake_internal.h"

using fake::MarkPointer;

// NVIDIA's headers leave it open.
struct CUevent_st {
    int number; // counted since fake_reset, for messages
    bool timing;
    MarkPointer mark; // of the last record; NULL before the first, which counts as passed
};

namespace {

struct Events {
    int created = 0;
    std::vector<std::unique_ptr<CUevent_st>> events;
};

Events &events() { // never freed, as the streams
    static Events *events = new Events;
    return *events;
}

std::vector<std::unique_ptr<CUevent_st>>::iterator find(cudaEvent_t event) {
    auto found = events().events.begin();
    while (found != events().events.end() && found->get() != event) ++found;
    return found;
}

bool exists(cudaEvent_t event) { return find(event) != events().events.end(); }

cudaError_t bad_event(cudaEvent_t event) {
    return fake::fail(cudaErrorInvalidResourceHandle, "%p is no event, or was destroyed",
                      (void *)event);
}

cudaError_t create(cudaEvent_t *event, unsigned flags) {
    unsigned known = cudaEventBlockingSync | cudaEventDisableTiming;
    if (!event || (flags & ~known))
        return fake::fail(cudaErrorInvalidValue, "an event with flags %#x", flags);
    *event = new CUevent_st{++events().created, !(flags & cudaEventDisableTiming), nullptr};
    events().events.emplace_back(*event);
    return cudaSuccess;
}

} // namespace

namespace fake {

void reset_events() { events() = Events(); }

int list_events(FILE *file) {
    for (auto &event : events().events)
        if (file) fprintf(file, "leak: event #%d\n", event->number);
    return (int)events().events.size();
}

} // namespace fake

// ---- the functions of CUDA ---------------------------------------------------------------------
cudaError_t cudaEventCreate(cudaEvent_t *event) {
    FAKE_CALL();
    return create(event, cudaEventDefault);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags) {
    FAKE_CALL();
    return create(event, flags);
}

// A record that was not yet passed goes on in its stream, as do those who wait for it.
cudaError_t cudaEventDestroy(cudaEvent_t event) {
    fake::Call call(__func__);
    auto found = find(event);
    if (found == events().events.end()) return bad_event(event);
    events().events.erase(found);
    return call.error;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    FAKE_CALL();
    if (!exists(event)) return bad_event(event);
    if (!fake::stream_exists(stream)) return fake::refuse(cudaErrorInvalidResourceHandle);
    event->mark = fake::queue(stream, {nullptr, "an event", 0, false});
    return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags) {
    FAKE_CALL();
    if (!exists(event)) return bad_event(event);
    if (!fake::stream_exists(stream)) return fake::refuse(cudaErrorInvalidResourceHandle);
    if (flags != cudaEventWaitDefault)
        return fake::fail(cudaErrorInvalidValue, "cudaStreamWaitEvent: flags %#x", flags);
    if (event->mark) fake::queue(stream, {nullptr, "a wait", 0, false}, {event->mark});
    return cudaSuccess;
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
    FAKE_CALL();
    return exists(event) ? fake::query(event->mark, "cudaEventQuery") : bad_event(event);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    FAKE_CALL();
    return exists(event) ? fake::wait_for(event->mark) : bad_event(event);
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end) {
    FAKE_CALL();
    for (cudaEvent_t event : {start, end}) {
        if (!exists(event)) return bad_event(event);
        if (!event->timing || !event->mark)
            return fake::fail(cudaErrorInvalidResourceHandle, "cudaEventElapsedTime: event #%d %s",
                              event->number,
                              event->timing ? "was never recorded" : "has no timing");
    }
    if (!start->mark->done || !end->mark->done)
        return fake::fail(cudaErrorNotReady, "cudaEventElapsedTime: nobody waited for event #%d",
                          start->mark->done ? end->number : start->number);
    *milliseconds = (float)((double)(end->mark->end - start->mark->end) * 1e-6);
    return cudaSuccess;
}
