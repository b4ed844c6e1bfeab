// memory.h -- the only code that asks the system for memory, so that every request can be counted
// and made to fail. Tensor data and handles go through it too (storage.c, handle.c).
#ifndef TENSOR_MEMORY_H
#define TENSOR_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Zeroed memory for the library's own structures; NULL with STATUS_OUT_OF_MEMORY pending.
void *memory_new(size_t bytes);
// Resizes a block of memory_new; the old block stays valid if this returns NULL.
void *memory_resize(void *block, size_t old_bytes, size_t new_bytes);
char *memory_copy_string(const char *text);
void memory_free(void *block); // NULL is fine

// Tensor data: aligned to 64 bytes, from 4,096 bytes on to a page; not zeroed; sets no error on
// NULL (storage.c retries first).
void *memory_new_data(size_t bytes);
void memory_free_data(void *data);

// Failure injection, per thread: only the n-th request from now fails (1 = the next); 0 turns it
// off. Every call that would allocate is a request, even if a cache serves it.
void memory_fail_at(uint64_t nth);
uint64_t memory_requests(void);     // requests of this thread so far
uint64_t memory_system_calls(void); // those requests that reached the system

typedef struct MemoryCounters {
    uint64_t requests, system_calls;
    uint64_t countdown; // requests until one must fail; 0: never
} MemoryCounters;
extern _Thread_local MemoryCounters memory_counters; // of memory.c; public only for memory_request
// Counts one request; false if it must fail.
static inline bool memory_request(void) {
    memory_counters.requests++;
    return memory_counters.countdown == 0 || --memory_counters.countdown != 0;
}

#endif
