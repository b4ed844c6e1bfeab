// fake_streams.cpp -- streams of the fake CUDA runtime: work waits until somebody waits for it, and
// takes its time on a fake clock. When work runs and when it ran by that clock are two things: the
// clock reads the same in every order of execution.
#include <algorithm>
#include <deque>

#include "tests/emulator/fake_internal.h"

using fake::MarkPointer;
using fake::Work;

namespace {

struct Item {
    Work work;
    int64_t issued;                 // when the host queued it
    std::vector<MarkPointer> waits; // what must be over before
    MarkPointer mark;               // its own end
};

} // namespace

// NVIDIA's headers leave it open.
struct CUstream_st {
    int number;             // counted since fake_reset, for messages; 0 is the NULL stream
    bool blocking;          // waits for the NULL stream, and the NULL stream for it
    bool destroyed = false; // by its owner; its work goes on
    std::deque<Item> items = {};
    MarkPointer last = nullptr;
    int64_t clock = 0; // the end of the last item that ran
};

namespace {

struct Streams {
    FakeOrder order = FAKE_LATE;
    int polls = 2;
    FakeTimes times = {5000, 2000, 10, 0};
    int64_t clock = 0; // of the host
    int created = 0;
    bool running = false;
    std::vector<std::unique_ptr<CUstream_st>> streams; // [0] is the NULL stream; oldest first
};

// Never freed: work may still be queued when the process ends.
Streams &streams() {
    static Streams *streams = new Streams;
    if (streams->streams.empty()) streams->streams.emplace_back(new CUstream_st{0, false});
    return *streams;
}

CUstream_st *null_stream() { return streams().streams[0].get(); }

// The stream behind a handle, or NULL with the fault set.
CUstream_st *find(cudaStream_t handle) {
    if (!handle || handle == cudaStreamLegacy) return null_stream();
    for (auto &stream : streams().streams)
        if (stream.get() == handle && !stream->destroyed) return handle;
    fake::set_fault("%p is no stream, or was destroyed", (void *)handle);
    return nullptr;
}

cudaError_t bad_stream() { return fake::refuse(cudaErrorInvalidResourceHandle); } // after find

cudaError_t create(cudaStream_t *stream, unsigned flags) {
    if (!stream || (flags & ~(unsigned)cudaStreamNonBlocking))
        return fake::fail(cudaErrorInvalidValue, "a stream with flags %#x", flags);
    *stream = new CUstream_st{++streams().created, !(flags & cudaStreamNonBlocking)};
    streams().streams.emplace_back(*stream);
    return cudaSuccess;
}

// ---- running -----------------------------------------------------------------------------------
void run_front(CUstream_st *stream) {
    Item item = std::move(stream->items.front());
    stream->items.pop_front();
    int64_t start = std::max(stream->clock, item.issued);
    for (const MarkPointer &wait : item.waits) start = std::max(start, wait->end);
    stream->clock = item.mark->end = start + item.work.cost;
    item.mark->done = true;
    if (!item.work.run || fake::sticky() != cudaSuccess) return; // a dead context does no work
    const char *name = item.work.name.c_str();
    streams().running = true;
    int failure = item.work.kernel ? fake::requested("kernel") : 0;
    if (failure)
        fake_fault((cudaError_t)failure, "%s dies on request", name);
    else
        item.work.run();
    fake::check_guards(name);
    streams().running = false;
}

// A stream whose owner destroyed it is there until its work is over.
void forget_destroyed() {
    auto over = [](const std::unique_ptr<CUstream_st> &stream) {
        return stream->destroyed && stream->items.empty();
    };
    auto &all = streams().streams;
    all.erase(std::remove_if(all.begin(), all.end(), over), all.end());
}

// Runs what `target` needs and nothing else: its stream up to it, and before each item what that
// item waits for. A stack instead of recursion, because chains of waits may be long.
void run_until(const MarkPointer &target) {
    fake::Access access;
    std::vector<fake::Mark *> needed = {target.get()};
    while (!needed.empty()) {
        fake::Mark *mark = needed.back();
        if (mark->done) {
            needed.pop_back();
            continue;
        }
        const std::vector<MarkPointer> &waits = mark->stream->items.front().waits;
        auto unmet = std::find_if(waits.begin(), waits.end(),
                                  [](const MarkPointer &wait) { return !wait->done; });
        if (unmet == waits.end())
            run_front(mark->stream);
        else
            needed.push_back(unmet->get());
    }
    forget_destroyed();
}

} // namespace

namespace fake {

bool running() { return streams().running; }
bool stream_exists(cudaStream_t stream) { return find(stream) != nullptr; }
MarkPointer last_of(cudaStream_t stream) { return find(stream)->last; }
FakeTimes times() { return streams().times; }
void set_order(FakeOrder order) { streams().order = order; }

MarkPointer queue(cudaStream_t handle, Work work, std::vector<MarkPointer> waits) {
    CUstream_st *stream = find(handle);
    if (stream == null_stream()) {
        for (auto &other : streams().streams)
            if (other->blocking && other->last) waits.push_back(other->last);
    } else if (stream->blocking && null_stream()->last) {
        waits.push_back(null_stream()->last);
    }
    MarkPointer mark(new Mark{stream, false, 0, 0});
    stream->items.push_back({std::move(work), streams().clock, std::move(waits), mark});
    stream->last = mark;
    if (streams().order == FAKE_EAGER) run_until(mark);
    return mark;
}

cudaError_t wait_for(MarkPointer mark) {
    if (mark) {
        run_until(mark);
        streams().clock = std::max(streams().clock, mark->end);
    }
    return asynchronous();
}

cudaError_t wait_for_all() {
    std::vector<MarkPointer> marks; // first, because running may remove streams
    for (auto &stream : streams().streams)
        if (stream->last) marks.push_back(stream->last);
    if (streams().order == FAKE_REVERSED) std::reverse(marks.begin(), marks.end());
    for (const MarkPointer &mark : marks) {
        run_until(mark);
        streams().clock = std::max(streams().clock, mark->end);
    }
    return asynchronous();
}

cudaError_t query(MarkPointer mark, const char *what) {
    if (mark && !mark->done && mark->polls++ < streams().polls)
        return fail(cudaErrorNotReady, "%s: not yet", what);
    return wait_for(mark);
}

void reset_streams() { streams() = Streams(); }

int list_streams(FILE *file) {
    int alive = 0;
    for (auto &stream : streams().streams) {
        if (stream.get() == null_stream() || stream->destroyed) continue;
        if (file) fprintf(file, "leak: stream #%d\n", stream->number);
        alive++;
    }
    return alive;
}

} // namespace fake

// ---- for tests ---------------------------------------------------------------------------------
void fake_set_streams(FakeOrder order) {
    fake::Lock lock;
    streams().order = order;
}

void fake_set_polls(int polls) {
    fake::Lock lock;
    streams().polls = polls;
}

void fake_set_times(FakeTimes times) {
    fake::Lock lock;
    streams().times = times;
}

int64_t fake_clock(void) {
    fake::Lock lock;
    return streams().clock;
}

void fake_pass(int64_t nanoseconds) {
    fake::Lock lock;
    streams().clock += nanoseconds;
}

void fake_enqueue(cudaStream_t stream, std::function<void()> work, const char *name) {
    fake::Call call("cudaLaunchKernel");
    if (call.error != cudaSuccess) return;
    if (find(stream))
        fake::queue(stream, {std::move(work), name, streams().times.kernel, true});
    else
        bad_stream();
}

// ---- the functions of CUDA ---------------------------------------------------------------------
cudaError_t cudaStreamCreate(cudaStream_t *stream) {
    FAKE_CALL();
    return create(stream, cudaStreamDefault);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags) {
    FAKE_CALL();
    return create(stream, flags);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    fake::Call call(__func__);
    CUstream_st *found = find(stream);
    if (found == null_stream()) fake::set_fault("the NULL stream cannot be destroyed");
    if (!found || found == null_stream()) return bad_stream();
    found->destroyed = true;
    forget_destroyed();
    return call.error;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    FAKE_CALL();
    CUstream_st *found = find(stream);
    return found ? fake::wait_for(found->last) : bad_stream();
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
    FAKE_CALL();
    CUstream_st *found = find(stream);
    return found ? fake::query(found->last, "cudaStreamQuery") : bad_stream();
}

cudaError_t cudaDeviceSynchronize(void) {
    FAKE_CALL();
    return fake::wait_for_all();
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data) {
    FAKE_CALL();
    if (!find(stream)) return bad_stream();
    fake::queue(stream, {[=] { function(data); }, "a host function", fake::times().host, false});
    return cudaSuccess;
}
