// fake_copies.cpp -- copies and memsets of the fake CUDA runtime. What each waits for is what
// NVIDIA's "API synchronization behavior" promises, and never more.
#include <stdlib.h>
#include <string.h>

#include "tests/emulator/fake_internal.h"

using fake::Place;

namespace {

const char *name_of(Place place) {
    return place == Place::DEVICE ? "device" : place == Place::PINNED ? "pinned" : "pageable host";
}

int64_t cost(size_t bytes) {
    FakeTimes times = fake::times();
    return times.copy + ((int64_t)bytes + times.bytes - 1) / times.bytes;
}

bool wants_device(cudaMemcpyKind kind, bool target) {
    return kind == cudaMemcpyDeviceToDevice ||
           kind == (target ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost);
}

// One end of a copy: is it where the kind says, and large enough?
bool end_is_good(const void *pointer, size_t bytes, cudaMemcpyKind kind, bool target) {
    const char *what = target ? "the destination of a copy" : "the source of a copy";
    Place place = fake::place_of(pointer);
    if (!pointer ||
        (kind != cudaMemcpyDefault && wants_device(kind, target) != (place == Place::DEVICE))) {
        fake::set_fault("%s: %p is %s memory, not %s memory", what, pointer,
                        pointer ? name_of(place) : "no",
                        wants_device(kind, target) ? "device" : "host");
        return false;
    }
    return fake::in_bounds(pointer, bytes, what);
}

bool overlap(const char *a, const char *b, size_t bytes) { return a < b + bytes && b < a + bytes; }

// Pageable memory is staged: the source is read now, or the destination complete on return. Pinned
// memory is read and written when the stream comes to it.
cudaError_t copy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream,
                 bool blocking) {
    if (!fake::stream_exists(stream)) return fake::refuse(cudaErrorInvalidResourceHandle);
    if (bytes == 0) return cudaSuccess;
    if ((unsigned)kind > cudaMemcpyDefault)
        return fake::fail(cudaErrorInvalidMemcpyDirection, "a copy of kind %d", (int)kind);
    if (!end_is_good(to, bytes, kind, true) || !end_is_good(from, bytes, kind, false))
        return fake::refuse(cudaErrorInvalidValue);
    if (overlap((char *)to, (const char *)from, bytes))
        return fake::fail(cudaErrorInvalidValue, "a copy of %zu bytes onto itself", bytes);
    Place target = fake::place_of(to), source = fake::place_of(from);
    bool on_host = target != Place::DEVICE && source != Place::DEVICE;
    bool on_device = target == Place::DEVICE && source == Place::DEVICE;
    if (source == Place::PAGEABLE && !on_host) {
        fake::MarkPointer before = fake::last_of(stream);
        std::vector<char> staged((const char *)from, (const char *)from + bytes);
        auto write = [to, bytes, staged = std::move(staged)] { memcpy(to, staged.data(), bytes); };
        fake::queue(stream, {std::move(write), "a copy", cost(bytes), false});
        return blocking ? fake::wait_for(before) : cudaSuccess;
    }
    auto run = [=] { memcpy(to, from, bytes); };
    fake::MarkPointer mark = fake::queue(stream, {run, "a copy", cost(bytes), false});
    bool waits = on_host || target == Place::PAGEABLE || (blocking && !on_device);
    return waits ? fake::wait_for(mark) : cudaSuccess;
}

cudaError_t set(void *to, int value, size_t bytes, cudaStream_t stream) {
    if (!fake::stream_exists(stream)) return fake::refuse(cudaErrorInvalidResourceHandle);
    if (bytes == 0) return cudaSuccess;
    if (!end_is_good(to, bytes, cudaMemcpyHostToDevice, true))
        return fake::refuse(cudaErrorInvalidValue);
    fake::queue(stream, {[=] { memset(to, value, bytes); }, "a memset", cost(bytes), false});
    return cudaSuccess;
}

} // namespace

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind) {
    FAKE_CALL();
    return copy(to, from, bytes, kind, nullptr, true);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
    FAKE_CALL();
    return copy(to, from, bytes, kind, stream, false);
}

cudaError_t cudaMemset(void *to, int value, size_t bytes) {
    FAKE_CALL();
    return set(to, value, bytes, nullptr);
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream) {
    FAKE_CALL();
    return set(to, value, bytes, stream);
}
