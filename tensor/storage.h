// storage.h -- the bytes behind tensors, and the ledger that knows about every one of them.
// The only code that allocates or frees tensor data. Shapes live in tensor.h.
// Threads: a ledger and its storages are one context's, counts included.
#ifndef TENSOR_STORAGE_H
#define TENSOR_STORAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tensor/device.h"

RIDGEPOINT_API_BEGIN

// What memory is for: given at allocation, never guessed afterwards (profiler/CONVENTIONS.md, 2).
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
    int references;   // tensors that look at it
    int saves;        // nodes of the tape `saver` that keep it for backward
    void *saver;      // compared, never followed; NULL: no tape keeps it
    uint32_t version; // bumped by every op that writes in place
    MemoryCategory category;
    int site;         // call site (layer) that asked for it, -1 outside any
    int phase;        // Phase at allocation
    int size_class;   // of the cache; -1: goes straight back to the system
    int64_t bytes;    // requested
    int64_t reserved; // taken from the system, >= bytes; 0 on meta
    void *data;       // NULL on meta and for 0 bytes
    Device *device;
    Ledger *ledger;    // charged at birth, credited at death
    Storage *next;     // of the ledger's live ones, or of the free ones of a size
    Storage *previous; // of the live ones
};

enum { STORAGE_CLASS_COUNT = 320 };

struct Ledger {
    int references;      // one for the owner, one per live storage
    MemoryUse live;      // now
    MemoryUse peak;      // composition at the highest total since ledger_reset_peak
    const char *peak_op; // op that ran then, NULL outside any
    int peak_site, peak_phase;
    int64_t reserved_bytes;  // taken from the system: live + cached + rounding
    int64_t cached_bytes;    // of it, in free blocks
    int64_t rounding_bytes;  // of it, lost to size classes inside live blocks
    int64_t live_host_bytes; // live bytes that have memory behind them (not meta)
    int64_t live_storages;
    Storage *first_live; // all of them, the youngest first
    // No cache: every storage is a system call (RIDGEPOINT_ALLOC=raw). A device alone may have none
    // either: Device.uncached (RIDGEPOINT_CUDA_ALLOC=raw).
    bool raw;
    Storage *free_storages[STORAGE_CLASS_COUNT]; // [0]: structs without data
};

Ledger *ledger_new(void);            // NULL with an error pending
void ledger_release(Ledger *ledger); // the owner lets go; it dies with its last storage
void ledger_reset_peak(Ledger *ledger);
void ledger_trim(Ledger *ledger);                 // gives every cached block back to the system
int64_t ledger_unaccounted(const Ledger *ledger); // reserved - live on host - cached - rounding: 0

typedef struct LedgerFree { // the cached blocks: free, and kept for the next request of their size
    int64_t blocks, bytes, largest; // bytes: their sum, = ledger->cached_bytes
    double squares;                 // the sum of their squares, for how scattered they are
} LedgerFree;
LedgerFree ledger_free_blocks(const Ledger *ledger);

// A storage of `bytes` on `device`, charged to the current context's ledger, site and phase.
// Owned by the caller (references = 1). NULL with an error pending when memory is exhausted, even
// after the cached blocks were given back; it says what was live, and the largest of it by layer.
Storage *storage_new(Device *device, int64_t bytes, MemoryCategory category);
static inline Storage *storage_retain(Storage *storage) {
    if (storage) storage->references++;
    return storage;
}
void storage_release(Storage *storage);

RIDGEPOINT_API_END

#endif
