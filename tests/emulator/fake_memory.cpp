// fake_memory.cpp -- device memory and pinned memory of the fake CUDA runtime: poisoned, guarded,
// counted. Copies have a file of their own.
#include <deque>
#include <map>
#include <sanitizer/asan_interface.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/emulator/fake_internal.h"

namespace {

enum { GUARD = 256 };                           // bytes before an allocation, at least, and behind
constexpr size_t QUARANTINE = (size_t)64 << 20; // freed bytes that are not yet used again
constexpr int POISON = 0xff;
// A NaN as well, so that a read past the end shows, but not the poison: writing that shows too.
constexpr unsigned char GUARD_BYTES[4] = {0xfd, 0xa5, 0xf5, 0xff};

size_t whole_size(size_t bytes) { // with guards; the data lie on a multiple of GUARD
    return GUARD + (bytes + GUARD - 1) / GUARD * GUARD + GUARD;
}

struct Allocation {
    unsigned char *begin; // of the guard before the data
    size_t bytes;
    int number; // counted since fake_reset, for messages
    bool device;

    unsigned char *data() const { return begin + GUARD; }
    unsigned char *end() const { return begin + whole_size(bytes); }
    std::string text() const {
        return "allocation #" + std::to_string(number) + " (" + std::to_string(bytes) +
               (device ? " bytes of device memory)" : " bytes of pinned memory)");
    }
};

struct Memory {
    size_t limit = 0, used = 0; // of device memory
    int allocations = 0;
    std::map<const unsigned char *, Allocation> live; // by address
    std::deque<Allocation> freed;                     // device memory in quarantine
    size_t freed_bytes = 0;
};

void check_at_exit();

// Never freed, so that it is still there at exit.
Memory &memory() {
    static Memory *memory = [] {
        atexit(check_at_exit);
        return new Memory;
    }();
    return *memory;
}

// ---- guards and poison -------------------------------------------------------------------------
void set_guards(const Allocation &a) {
    for (unsigned char *p = a.begin; p < a.end(); p++) {
        if (p == a.data()) p += a.bytes;
        *p = GUARD_BYTES[(uintptr_t)p % 4];
    }
}

// AddressSanitizer, too, reports an access to the guards, at its line.
void close_guards(const Allocation &a) {
    ASAN_POISON_MEMORY_REGION(a.begin, GUARD);
    ASAN_POISON_MEMORY_REGION(a.data() + a.bytes, (size_t)(a.end() - a.data()) - a.bytes);
}

void open_whole(const Allocation &a) { ASAN_UNPOISON_MEMORY_REGION(a.begin, whole_size(a.bytes)); }

// Where a guard was written to, counted from the start of the allocation; 0 if nowhere.
__attribute__((no_sanitize("address"))) ptrdiff_t broken_guard(const Allocation &a) {
    for (const unsigned char *p = a.data() + a.bytes; p < a.end(); p++)
        if (*p != GUARD_BYTES[(uintptr_t)p % 4]) return p - a.data();
    for (const unsigned char *p = a.data() - 1; p >= a.begin; p--)
        if (*p != GUARD_BYTES[(uintptr_t)p % 4]) return p - a.data();
    return 0;
}

// Raises the error, and mends the guard so that it is raised once.
bool check_guard(const Allocation &a, const char *who) {
    ptrdiff_t at = broken_guard(a);
    if (at == 0) return true;
    open_whole(a);
    set_guards(a);
    close_guards(a);
    fake_fault(cudaErrorIllegalAddress, "%s wrote %s %s, at its byte %td", who,
               at < 0 ? "before the start of" : "past the end of", a.text().c_str(), at);
    return false;
}

__attribute__((no_sanitize("address"))) bool still_poisoned(const Allocation &a) {
    for (size_t i = 0; i < a.bytes; i++)
        if (a.data()[i] != POISON) return false;
    return true;
}

// Freed memory is used again only when there is much of it, so that late accesses find the poison.
bool leave_quarantine() {
    Allocation a = memory().freed.front();
    memory().freed.pop_front();
    memory().freed_bytes -= a.bytes;
    fake::arena_give(a.begin, whole_size(a.bytes));
    if (still_poisoned(a)) return true;
    fake_fault(cudaErrorIllegalAddress, "something wrote to %s after it was freed",
               a.text().c_str());
    return false;
}

void check_at_exit() {
    fake::Lock lock;
    fake::Access access;
    bool intact = true;
    for (auto &[address, a] : memory().live) intact = check_guard(a, "something") && intact;
    while (intact && !memory().freed.empty()) intact = leave_quarantine();
    if (intact) return;
    fflush(nullptr);
    fprintf(stderr, "fake CUDA: found at exit: %s\n", fake_last_fault());
    _exit(1);
}

// ---- allocating and freeing --------------------------------------------------------------------
void *make(unsigned char *begin, size_t bytes, bool device) {
    Allocation a = {begin, bytes, ++memory().allocations, device};
    open_whole(a);
    set_guards(a);
    memset(a.data(), POISON, a.bytes);
    close_guards(a);
    memory().live[a.data()] = a;
    if (device) memory().used += bytes;
    return a.data();
}

size_t bytes_left() { // of device memory
    return memory().limit > memory().used ? memory().limit - memory().used : 0;
}

cudaError_t allocate(void **pointer, size_t bytes, bool device) {
    const char *kind = device ? "device" : "pinned";
    if (!pointer)
        return fake::fail(cudaErrorInvalidValue, "%s memory: nowhere to put the address", kind);
    if (bytes == 0) {
        *pointer = nullptr;
        return cudaSuccess;
    }
    fake::Access access;
    void *begin = nullptr;
    if (device && bytes <= bytes_left()) begin = fake::arena_take(whole_size(bytes));
    if (!device && bytes <= PTRDIFF_MAX / 2) begin = aligned_alloc(GUARD, whole_size(bytes));
    if (!begin)
        return fake::fail(cudaErrorMemoryAllocation, "%zu bytes of %s memory: only %zu are left",
                          bytes, kind, device ? bytes_left() : 0);
    *pointer = make((unsigned char *)begin, bytes, device);
    return cudaSuccess;
}

// The allocation that holds the byte, or NULL.
const Allocation *holder(const void *pointer) {
    auto next = memory().live.upper_bound((const unsigned char *)pointer);
    if (next == memory().live.begin()) return nullptr;
    const Allocation *a = &std::prev(next)->second;
    return (const unsigned char *)pointer < a->data() + a->bytes ? a : nullptr;
}

cudaError_t refuse_free(const char *function, const void *pointer) {
    for (const Allocation &a : memory().freed)
        if (pointer == a.data())
            return fake::fail(cudaErrorInvalidValue, "%s(%p): %s is already freed", function,
                              pointer, a.text().c_str());
    const Allocation *inside = holder(pointer);
    if (!inside)
        return fake::fail(cudaErrorInvalidValue, "%s(%p): not from CUDA", function, pointer);
    return fake::fail(cudaErrorInvalidValue, "%s(%p): %s %s", function, pointer,
                      inside->data() == pointer ? "the wrong function for" : "not the start of",
                      inside->text().c_str());
}

// Waits for the device, as the real functions do: work that still runs may use the memory.
cudaError_t release(const char *function, void *pointer, bool device) {
    cudaError_t ran = fake::wait_for_all();
    auto found = memory().live.find((const unsigned char *)pointer);
    if (found == memory().live.end() || found->second.device != device)
        return refuse_free(function, pointer);
    Allocation a = found->second;
    memory().live.erase(found);
    fake::Access access;
    if (!check_guard(a, "something")) ran = cudaErrorIllegalAddress;
    if (!device) {
        open_whole(a);
        free(a.begin);
        return ran;
    }
    memory().used -= a.bytes;
    memory().freed.push_back(a);
    memory().freed_bytes += a.bytes;
    memset(a.data(), POISON, a.bytes);
    ASAN_POISON_MEMORY_REGION(a.begin, whole_size(a.bytes));
    while (memory().freed_bytes > QUARANTINE)
        if (!leave_quarantine()) ran = cudaErrorIllegalAddress;
    return ran;
}

} // namespace

namespace fake {

Place place_of(const void *pointer) {
    if (in_arena(pointer)) return Place::DEVICE;
    return holder(pointer) ? Place::PINNED : Place::PAGEABLE;
}

bool in_bounds(const void *pointer, size_t bytes, const char *what) {
    const Allocation *a = holder(pointer);
    if (bytes == 0 || (!a && !in_arena(pointer))) return true;
    if (!a) {
        set_fault("%s: %p is device memory that is not allocated", what, pointer);
        return false;
    }
    size_t offset = (size_t)((const unsigned char *)pointer - a->data());
    if (bytes <= a->bytes - offset) return true;
    set_fault("%s: %zu bytes from byte %zu on pass the end of %s", what, bytes, offset,
              a->text().c_str());
    return false;
}

void check_guards(const char *who) {
    for (auto &[address, a] : memory().live) check_guard(a, who);
}

void reset_memory(size_t limit) {
    for (auto &[address, a] : memory().live) {
        if (a.device) continue;
        open_whole(a);
        free(a.begin);
    }
    reset_arena();
    memory() = Memory();
    memory().limit = limit;
}

size_t memory_limit() { return memory().limit; }

int list_memory(FILE *file) {
    for (auto &[address, a] : memory().live)
        if (file) fprintf(file, "leak: %s\n", a.text().c_str());
    return (int)memory().live.size();
}

} // namespace fake

void fake_set_memory(size_t bytes) {
    fake::Lock lock;
    memory().limit = bytes;
}

size_t fake_live_bytes(void) {
    fake::Lock lock;
    return memory().used;
}

// ---- the functions of CUDA ---------------------------------------------------------------------
cudaError_t cudaMalloc(void **pointer, size_t bytes) {
    FAKE_CALL();
    return allocate(pointer, bytes, true);
}

cudaError_t cudaMallocHost(void **pointer, size_t bytes) {
    FAKE_CALL();
    return allocate(pointer, bytes, false);
}

cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned int flags) {
    FAKE_CALL();
    unsigned known = cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
    if (flags & ~known) return fake::fail(cudaErrorInvalidValue, "cudaHostAlloc: flags %#x", flags);
    return allocate(pointer, bytes, false);
}

cudaError_t cudaFree(void *pointer) {
    fake::Call call(__func__);
    cudaError_t error = pointer ? release(__func__, pointer, true) : cudaSuccess;
    return call.error != cudaSuccess ? call.error : error;
}

cudaError_t cudaFreeHost(void *pointer) {
    fake::Call call(__func__);
    cudaError_t error = pointer ? release(__func__, pointer, false) : cudaSuccess;
    return call.error != cudaSuccess ? call.error : error;
}

cudaError_t cudaMemGetInfo(size_t *left, size_t *total) {
    FAKE_CALL();
    *left = bytes_left();
    *total = memory().limit;
    return cudaSuccess;
}
