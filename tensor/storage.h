// storage.h -- the bytes behind tensors, and the ledger that counts all of them.
// Only this code allocates or frees tensor data. Shapes live in tensor.h.
// Threads: a ledger and its storages, counts included, belong to one context.
#ifndef TENSOR_STORAGE_H
#define TENSOR_STORAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tensor/device.h"

RIDGEPOINT_API_BEGIN

// The purpose of memory, given at allocation, never guessed later (profiler/CONVENTIONS.md, 2).
#define MEMORY_CATEGORY_LIST(X)                                                                    \
    X(PARAMETER, "parameter")                                                                      \
    X(GRADIENT, "gradient")                                                                        \
    X(OPTIMIZER, "optimizer")                                                                      \
    X(ACTIVATION, "activation")                                                                    \
    X(WORKSPACE, "workspace")                                                                      \
    X(DATA, "data")                                                                                \
    X(STAGING, "staging")

typedef enum MemoryCategory {
#define MEMORY_ENUM(name, text) MEM_##name,
    MEMORY_CATEGORY_LIST(MEMORY_ENUM)
#undef MEMORY_ENUM
        MEM_COUNT
} MemoryCategory;

const char *memory_category_name(MemoryCategory category); // "activation"

// Live bytes, by category. All figures are *requested* bytes: CPU, CUDA and meta agree on them.
typedef struct MemoryUse {
    int64_t category[MEM_COUNT];
    int64_t total;
} MemoryUse;

typedef struct Storage Storage;
typedef struct Ledger Ledger;

struct Storage {
    int references;   // number of tensors that use it
    int saves;        // number of nodes of the tape `saver` that keep it for backward
    void *saver;      // compared, never followed; NULL: no tape keeps it
    uint32_t version; // increases with every in-place write by an op
    MemoryCategory category;
    int site;         // call site (layer) that allocated it, -1 outside any
    int phase;        // Phase at allocation
    int size_class;   // index in the cache; -1: freed straight to the system
    int64_t bytes;    // requested
    int64_t reserved; // taken from the system, >= bytes; 0 on meta
    void *data;       // NULL on meta and for 0 bytes
    Device *device;
    Ledger *ledger;    // charged at birth, credited at death
    Storage *next;     // in the ledger's list of live storages, or in a size's free list
    Storage *previous; // in the list of live storages
};

enum { STORAGE_CLASS_COUNT = 320 };

struct Ledger {
    int references;      // one for the owner, one per live storage
    MemoryUse live;      // now
    MemoryUse peak;      // by category, at the highest total since ledger_reset_peak
    const char *peak_op; // op that ran at the peak, NULL outside any
    int peak_site, peak_phase;
    int64_t reserved_bytes;  // taken from the system: live + cached + rounding
    int64_t cached_bytes;    // part of it in free blocks
    int64_t rounding_bytes;  // part of it lost to size classes inside live blocks
    int64_t live_host_bytes; // live bytes in actual memory (not meta)
    int64_t live_storages;
    Storage *first_live; // list of all live storages, the youngest first
    // No cache: every storage is a system call (RIDGEPOINT_ALLOC=raw). Device.uncached switches the
    // cache of one device off (RIDGEPOINT_CUDA_ALLOC=raw).
    bool raw;
    Storage *free_storages[STORAGE_CLASS_COUNT]; // [0]: structs without data
};

Ledger *ledger_new(void);            // NULL with an error pending
void ledger_release(Ledger *ledger); // drops the owner's reference; it dies with its last storage
void ledger_reset_peak(Ledger *ledger);
void ledger_trim(Ledger *ledger);                 // returns every cached block to the system
int64_t ledger_unaccounted(const Ledger *ledger); // reserved - live on host - cached - rounding: 0

typedef struct LedgerFree {         // the free blocks kept for later requests of their size
    int64_t blocks, bytes, largest; // `bytes` is their sum, = ledger->cached_bytes
    double squares;                 // sum of the squared sizes, a measure of fragmentation
} LedgerFree;
LedgerFree ledger_free_blocks(const Ledger *ledger);

// A storage of `bytes` on `device`, charged to the current context's ledger, site and phase. The
// caller owns it (references = 1). NULL with an error pending when memory is exhausted even without
// the cached blocks; the message gives the live bytes and the largest by layer.
Storage *storage_new(Device *device, int64_t bytes, MemoryCategory category);
static inline Storage *storage_retain(Storage *storage) {
    if (storage) storage->references++;
    return storage;
}
void storage_release(Storage *storage);

RIDGEPOINT_API_END

#endif
