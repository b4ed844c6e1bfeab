// memory.c -- the only caller of malloc: counts requests, and fails one on demand.
#include "tensor/memory.h"

#include <stdlib.h>
#include <string.h>

#include "tensor/status.h"

// Blocks of a page or more are aligned to a page. If one began a cache line past the end of
// another, as blocks of an allocator do, a processor would confuse loads from the one with recent
// stores to the other (it compares addresses within a page), and a pass would take half as long
// again.
enum { DATA_ALIGNMENT = 64, PAGE = 4096 };

_Thread_local MemoryCounters memory_counters;

void memory_fail_at(uint64_t nth) { memory_counters.countdown = nth; }
uint64_t memory_requests(void) { return memory_counters.requests; }
uint64_t memory_system_calls(void) { return memory_counters.system_calls; }

static void *out_of_memory(size_t bytes) {
    error_set(STATUS_OUT_OF_MEMORY, "memory: no room for %zu bytes", bytes);
    return NULL;
}

void *memory_new(size_t bytes) {
    if (!memory_request()) return out_of_memory(bytes);
    memory_counters.system_calls++;
    void *block = calloc(1, bytes ? bytes : 1);
    return block ? block : out_of_memory(bytes);
}

void *memory_resize(void *block, size_t old_bytes, size_t new_bytes) {
    if (!memory_request()) return out_of_memory(new_bytes);
    memory_counters.system_calls++;
    char *resized = realloc(block, new_bytes ? new_bytes : 1);
    if (!resized) return out_of_memory(new_bytes);
    if (new_bytes > old_bytes) memset(resized + old_bytes, 0, new_bytes - old_bytes);
    return resized;
}

char *memory_copy_string(const char *text) {
    size_t bytes = strlen(text) + 1;
    char *copy = memory_new(bytes);
    if (copy) memcpy(copy, text, bytes);
    return copy;
}

void memory_free(void *block) { free(block); }

void *memory_new_data(size_t bytes) {
    memory_counters.system_calls++;
    size_t alignment = bytes < PAGE ? DATA_ALIGNMENT : PAGE;
    size_t rounded = (bytes + DATA_ALIGNMENT - 1) / DATA_ALIGNMENT * DATA_ALIGNMENT;
    void *data = NULL;
    if (rounded < bytes || posix_memalign(&data, alignment, rounded)) return NULL;
    return data;
}

void memory_free_data(void *data) { free(data); }
