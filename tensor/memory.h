// memory.h -- the one place that asks the system for memory, so that every request can be counted
// and made to fail. Tensor data and handles go through it too (storage.c, handle.c).
#ifndef TENSOR_MEMORY_H
#define TENSOR_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Zeroed memory for the library's own structures; NULL with STATUS_OUT_OF_MEMORY pending.
void *memory_new(size_t bytes);
// Grows (or shrinks) what memory_new gave; the old block stays valid when this returns NULL.
void *memory_resize(void *block, size_t old_bytes, size_t new_bytes);
char *memory_copy_string(const char *text);
void memory_free(void *block); // NULL is fine

// Tensor data: 64-byte aligned, from 4,096 bytes on to a page; not zeroed; no error is set on NULL
// (storage.c retries first).
void *memory_new_data(size_t bytes);
void memory_free_data(void *data);

// Failure injection, per thread: the n-th request from now (1 = the next) fails, and only that one;
// 0 turns it off. A request is every call that would allocate, whether a cache serves it or not.
void memory_fail_at(uint64_t nth);
uint64_t memory_requests(void);     // requests of this thread so far
uint64_t memory_system_calls(void); // of them, those that reached the system

typedef struct MemoryCounters {
    uint64_t requests, system_calls;
    uint64_t countdown; // to the request that has to fail; 0: none
} MemoryCounters;
extern _Thread_local MemoryCounters memory_counters; // memory.c's, here for the next line alone
// Counts one request; false: this one has to fail.
static inline bool memory_request(void) {
    memory_counters.requests++;
    return memory_counters.countdown == 0 || --memory_counters.countdown != 0;
}

#endif
