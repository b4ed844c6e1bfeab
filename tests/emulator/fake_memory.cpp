// fake_memory.cpp -- device memory and pinned memory of the fake CUDA runtime: poisoned, guarded,
// counted. What lies between the guards nobody can tell from memory of a GPU, except by its speed.
#include <deque>
#include <map>
#include <sanitizer/asan_interface.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/emulator/fake_internal.h"

namespace {

enum { GUARD = 256 }; // bytes before an allocation, and at least as many behind it
constexpr size_t ARENA = (size_t)4 << 30;       // addresses, not memory
constexpr size_t QUARANTINE = (size_t)64 << 20; // freed bytes that are not yet used again
constexpr int POISON = 0xff;
// A NaN as well, so that a read past the end shows, but not the poison: writing that shows too.
constexpr unsigned char GUARD_BYTES[4] = {0xfd, 0xa5, 0xf5, 0xff};

struct Allocation {
    unsigned char *data;
    size_t bytes;
    int number; // counted since fake_reset, for messages
    bool device;

    unsigned char *begin() const { return data - GUARD; } // with guards
    unsigned char *end() const {
        uintptr_t behind = ((uintptr_t)data + bytes + GUARD - 1) / GUARD * GUARD + GUARD;
        return data + (behind - (uintptr_t)data);
    }
    size_t whole() const { return (size_t)(end() - begin()); }
    std::string text() const {
        return "allocation #" + std::to_string(number) + " (" + std::to_string(bytes) +
               (device ? " bytes of device memory)" : " bytes of pinned memory)");
    }
};

struct Memory {
    unsigned char *arena = nullptr; // device memory, closed to the host
    int accesses = 0;
    size_t limit = 0, used = 0, highest = 0; // highest: end of what was ever used of the arena
    int allocations = 0;
    std::map<size_t, size_t> room;                 // free parts of the arena: offset, bytes
    std::map<const unsigned char *, Allocation> live; // by address
    std::deque<Allocation> freed;                  // device memory in quarantine
    size_t freed_bytes = 0;
};

void check_at_exit();

// Never freed, as state() in fake_runtime.cpp.
Memory &memory() {
    static Memory *memory = [] {
        Memory *fresh = new Memory;
        void *arena = mmap(nullptr, ARENA, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (arena == MAP_FAILED) {
            perror("fake CUDA: addresses for device memory");
            exit(2);
        }
        fresh->arena = (unsigned char *)arena;
        atexit(check_at_exit);
        return fresh;
    }();
    return *memory;
}

// ---- room in the arena -------------------------------------------------------------------------
unsigned char *take_room(size_t bytes) { // the first part that is large enough
    for (auto &[offset, size] : memory().room) {
        if (size < bytes) continue;
        size_t start = offset, rest = size - bytes;
        memory().room.erase(start);
        if (rest > 0) memory().room[start + bytes] = rest;
        if (start + bytes > memory().highest) memory().highest = start + bytes;
        return memory().arena + start;
    }
    return nullptr;
}

void give_room(unsigned char *begin, size_t bytes) { // joined with its free neighbours
    size_t offset = (size_t)(begin - memory().arena);
    auto next = memory().room.lower_bound(offset);
    if (next != memory().room.end() && next->first == offset + bytes) {
        bytes += next->second;
        next = memory().room.erase(next);
    }
    if (next != memory().room.begin()) {
        auto previous = std::prev(next);
        if (previous->first + previous->second == offset) {
            previous->second += bytes;
            return;
        }
    }
    memory().room[offset] = bytes;
}

// ---- guards and poison -------------------------------------------------------------------------
void set_guards(const Allocation &a) {
    for (unsigned char *p = a.begin(); p < a.end(); p++)
        if (p < a.data || p >= a.data + a.bytes) *p = GUARD_BYTES[(uintptr_t)p % 4];
}

// AddressSanitizer, too, reports an access to the guards, at its line.
void close_guards(const Allocation &a) {
    ASAN_POISON_MEMORY_REGION(a.begin(), GUARD);
    ASAN_POISON_MEMORY_REGION(a.data + a.bytes, (size_t)(a.end() - a.data) - a.bytes);
}

// Where a guard was written to, counted from the start of the allocation; 0 if nowhere.
__attribute__((no_sanitize("address"))) ptrdiff_t broken_guard(const Allocation &a) {
    for (const unsigned char *p = a.data + a.bytes; p < a.end(); p++)
        if (*p != GUARD_BYTES[(uintptr_t)p % 4]) return p - a.data;
    for (const unsigned char *p = a.data - 1; p >= a.begin(); p--)
        if (*p != GUARD_BYTES[(uintptr_t)p % 4]) return p - a.data;
    return 0;
}

// Raises the error, and mends the guard so that it is raised once.
bool check_guard(const Allocation &a, const char *who) {
    ptrdiff_t at = broken_guard(a);
    if (at == 0) return true;
    ASAN_UNPOISON_MEMORY_REGION(a.begin(), a.whole());
    set_guards(a);
    close_guards(a);
    fake_fault(cudaErrorIllegalAddress, "%s wrote %s %s, at its byte %td", who,
               at < 0 ? "before the start of" : "past the end of", a.text().c_str(), at);
    return false;
}

__attribute__((no_sanitize("address"))) bool still_poisoned(const Allocation &a) {
    for (size_t i = 0; i < a.bytes; i++)
        if (a.data[i] != POISON) return false;
    return true;
}

// Freed memory is used again only when there is much of it, so that late accesses find the poison.
void leave_quarantine() {
    Allocation a = memory().freed.front();
    memory().freed.pop_front();
    memory().freed_bytes -= a.bytes;
    if (!still_poisoned(a))
        fake_fault(cudaErrorIllegalAddress, "something wrote to %s after it was freed",
                   a.text().c_str());
    give_room(a.begin(), a.whole());
}

void check_at_exit() {
    fake::Access access;
    const char *who = "something";
    bool intact = true;
    for (auto &[address, a] : memory().live) intact = check_guard(a, who) && intact;
    while (intact && !memory().freed.empty()) {
        intact = still_poisoned(memory().freed.front());
        leave_quarantine();
    }
    if (intact) return;
    fflush(nullptr);
    fprintf(stderr, "fake CUDA: found at exit: %s\n", fake_last_fault());
    _exit(1);
}

// ---- allocating and freeing --------------------------------------------------------------------
Allocation make(unsigned char *begin, size_t bytes, bool device) {
    Allocation a = {begin + GUARD, bytes, ++memory().allocations, device};
    ASAN_UNPOISON_MEMORY_REGION(a.begin(), a.whole());
    set_guards(a);
    memset(a.data, POISON, a.bytes);
    close_guards(a);
    memory().live[a.data] = a;
    if (device) memory().used += bytes;
    return a;
}

size_t whole_size(size_t bytes) { return Allocation{(unsigned char *)GUARD, bytes, 0, true}.whole(); }

cudaError_t allocate_pinned(void **pointer, size_t bytes) {
    if (!pointer) return fake::fail(cudaErrorInvalidValue, "pinned memory: nowhere to put it");
    *pointer = nullptr;
    if (bytes == 0) return cudaSuccess;
    void *block = bytes < ARENA ? aligned_alloc(GUARD, whole_size(bytes)) : nullptr;
    if (!block)
        return fake::fail(cudaErrorMemoryAllocation, "%zu bytes of pinned memory: none left", bytes);
    *pointer = make((unsigned char *)block, bytes, false).data;
    return cudaSuccess;
}

// The allocation that holds the byte, or NULL.
const Allocation *holder(const void *pointer) {
    auto next = memory().live.upper_bound((const unsigned char *)pointer);
    if (next == memory().live.begin()) return nullptr;
    const Allocation *a = &std::prev(next)->second;
    return (const unsigned char *)pointer < a->data + a->bytes ? a : nullptr;
}

cudaError_t refuse_free(const char *function, const void *pointer) {
    for (const Allocation &a : memory().freed)
        if (pointer == a.data)
            return fake::fail(cudaErrorInvalidValue, "%s(%p): %s was already freed", function,
                              pointer, a.text().c_str());
    const Allocation *inside = holder(pointer);
    return fake::fail(cudaErrorInvalidValue, "%s(%p): this is %s%s", function, pointer,
                      !inside                   ? "no memory of CUDA"
                      : inside->data == pointer ? "of the other kind: "
                                                : "not the start of ",
                      inside ? inside->text().c_str() : "");
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
    if (device) {
        memory().used -= a.bytes;
        memory().freed.push_back(a);
        memory().freed_bytes += a.bytes;
        memset(a.data, POISON, a.bytes);
        ASAN_POISON_MEMORY_REGION(a.begin(), a.whole());
        while (memory().freed_bytes > QUARANTINE) leave_quarantine();
    } else {
        ASAN_UNPOISON_MEMORY_REGION(a.begin(), a.whole());
        free(a.begin());
    }
    return ran;
}

} // namespace

namespace fake {

Access::Access() {
    if (memory().accesses++ == 0) mprotect(memory().arena, ARENA, PROT_READ | PROT_WRITE);
}
Access::~Access() {
    if (--memory().accesses == 0) mprotect(memory().arena, ARENA, PROT_NONE);
}

Place place_of(const void *pointer) {
    const unsigned char *p = (const unsigned char *)pointer;
    if (p >= memory().arena && p < memory().arena + ARENA) return Place::DEVICE;
    return holder(pointer) ? Place::PINNED : Place::PAGEABLE;
}

bool in_bounds(const void *pointer, size_t bytes, const char *what) {
    if (bytes == 0) return true;
    const Allocation *a = holder(pointer);
    if (!a && place_of(pointer) == Place::PAGEABLE) return true;
    if (!a) {
        set_fault("%s: %p is device memory that is not allocated", what, pointer);
        return false;
    }
    size_t offset = (size_t)((const unsigned char *)pointer - a->data);
    if (bytes <= a->bytes - offset) return true;
    set_fault("%s: %zu bytes from byte %zu on pass the end of %s", what, bytes, offset,
              a->text().c_str());
    return false;
}

void check_guards(const char *who) {
    for (auto &[address, a] : memory().live) check_guard(a, who);
}

void reset_memory(size_t limit) {
    Memory &m = memory();
    for (auto &[address, a] : m.live) {
        if (a.device) continue;
        ASAN_UNPOISON_MEMORY_REGION(a.begin(), a.whole());
        free(a.begin());
    }
    m.live.clear();
    m.freed.clear();
    ASAN_UNPOISON_MEMORY_REGION(m.arena, m.highest);
    madvise(m.arena, m.highest, MADV_DONTNEED);
    m.room = {{0, ARENA}};
    m.limit = limit;
    m.used = m.highest = m.freed_bytes = 0;
    m.allocations = 0;
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
    if (!pointer) return fake::fail(cudaErrorInvalidValue, "cudaMalloc: nowhere to put the result");
    *pointer = nullptr;
    if (bytes == 0) return cudaSuccess;
    Memory &m = memory();
    size_t left = m.limit > m.used ? m.limit - m.used : 0;
    if (bytes <= left && bytes < ARENA) {
        fake::Access access;
        unsigned char *begin = take_room(whole_size(bytes));
        if (begin) *pointer = make(begin, bytes, true).data;
    }
    if (*pointer) return cudaSuccess;
    return fake::fail(cudaErrorMemoryAllocation, "cudaMalloc: %zu bytes of %zu, of which %zu left",
                      bytes, m.limit, left);
}

cudaError_t cudaFree(void *pointer) {
    fake::Call call(__func__);
    cudaError_t error = pointer ? release(__func__, pointer, true) : cudaSuccess;
    return call.error != cudaSuccess ? call.error : error;
}

cudaError_t cudaMallocHost(void **pointer, size_t bytes) {
    FAKE_CALL();
    return allocate_pinned(pointer, bytes);
}

cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned int flags) {
    FAKE_CALL();
    if (flags & ~(unsigned)(cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined))
        return fake::fail(cudaErrorInvalidValue, "cudaHostAlloc: unknown flags %#x", flags);
    return allocate_pinned(pointer, bytes);
}

cudaError_t cudaFreeHost(void *pointer) {
    fake::Call call(__func__);
    cudaError_t error = pointer ? release(__func__, pointer, false) : cudaSuccess;
    return call.error != cudaSuccess ? call.error : error;
}

cudaError_t cudaMemGetInfo(size_t *left, size_t *total) {
    FAKE_CALL();
    *total = memory().limit;
    *left = memory().limit > memory().used ? memory().limit - memory().used : 0;
    return cudaSuccess;
}
