// fake_arena.cpp -- the addresses of the fake GPU's memory: one range, closed to the host except
// while work runs, of which parts are taken and given back.
#include <map>
#include <sanitizer/asan_interface.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "tests/emulator/fake_internal.h"

namespace {

constexpr size_t SIZE = (size_t)4 << 30; // addresses, not memory: only what is touched is used
// Of a huge page. It is opened and closed whole: of small pages that takes a hundred times as long,
// and most of the tests' time.
constexpr size_t STEP = (size_t)2 << 20;

struct Arena {
    unsigned char *start;
    int accesses = 0;
    size_t highest = 0;                          // the end of what was ever taken
    std::map<size_t, size_t> room = {{0, SIZE}}; // free parts: offset, bytes
};

// Never freed: work may still use it while the process ends.
Arena &arena() {
    static Arena *arena = [] {
        int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
        void *found = mmap(nullptr, SIZE + STEP, PROT_NONE, flags, -1, 0);
        if (found == MAP_FAILED) {
            perror("fake CUDA: addresses for device memory");
            exit(2);
        }
        uintptr_t start = ((uintptr_t)found + STEP - 1) / STEP * STEP;
        madvise((void *)start, SIZE, MADV_HUGEPAGE); // or small ones, where there are none
        return new Arena{(unsigned char *)start};
    }();
    return *arena;
}

void protect(size_t from, size_t to, int allowed) {
    if (from == to || mprotect(arena().start + from, to - from, allowed) == 0) return;
    perror("fake CUDA: access to device memory");
    exit(2);
}

void use_until(size_t end) { // opens what is new
    size_t old = arena().highest;
    if (end <= old) return;
    arena().highest = (end + STEP - 1) / STEP * STEP;
    protect(old, arena().highest, PROT_READ | PROT_WRITE);
}

} // namespace

namespace fake {

Access::Access() {
    if (arena().accesses++ == 0) protect(0, arena().highest, PROT_READ | PROT_WRITE);
}

Access::~Access() {
    if (--arena().accesses == 0) protect(0, arena().highest, PROT_NONE);
}

bool in_arena(const void *pointer) {
    const unsigned char *p = (const unsigned char *)pointer;
    return p >= arena().start && p < arena().start + SIZE;
}

unsigned char *arena_take(size_t bytes) { // the first part that is large enough
    for (auto &[offset, size] : arena().room) {
        if (size < bytes) continue;
        size_t start = offset, rest = size - bytes;
        arena().room.erase(start);
        if (rest > 0) arena().room[start + bytes] = rest;
        use_until(start + bytes);
        return arena().start + start;
    }
    return nullptr;
}

void arena_give(unsigned char *begin, size_t bytes) { // joined with its free neighbours
    size_t offset = (size_t)(begin - arena().start);
    auto next = arena().room.lower_bound(offset);
    if (next != arena().room.end() && next->first == offset + bytes) {
        bytes += next->second;
        next = arena().room.erase(next);
    }
    if (next != arena().room.begin()) {
        auto previous = std::prev(next);
        if (previous->first + previous->second == offset) {
            previous->second += bytes;
            return;
        }
    }
    arena().room[offset] = bytes;
}

void reset_arena() {
    protect(0, arena().highest, PROT_NONE);
    ASAN_UNPOISON_MEMORY_REGION(arena().start, arena().highest);
    madvise(arena().start, arena().highest, MADV_DONTNEED);
    arena().room = {{0, SIZE}};
    arena().highest = 0;
}

} // namespace fake
