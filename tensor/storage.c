// storage.c -- allocates tensor data through a size-class cache, and keeps the ledger.
#include "tensor/storage.h"

#include <stdlib.h>
#include <string.h>

#include "tensor/context.h"
#include "tensor/given.h"
#include "tensor/memory.h"

static const char *const category_names[MEM_COUNT] = {
#define MEMORY_NAME(name, text) text,
    MEMORY_CATEGORY_LIST(MEMORY_NAME)
#undef MEMORY_NAME
};

const char *memory_category_name(MemoryCategory category) {
    return (unsigned)category < MEM_COUNT ? category_names[category] : "?";
}

// ---- size classes ----------------------------------------------------------------------------
// Multiples of 64 bytes up to 512, then eight steps per power of two: at most 12.5 % is lost, and a
// steady training step finds all its sizes in the cache.
enum { CLASS_UNIT = 64, CLASS_LINEAR = 8, CLASS_STEPS = 8 };

static int size_class(int64_t bytes, int64_t *rounded) {
    int64_t units = (bytes + CLASS_UNIT - 1) / CLASS_UNIT;
    if (units <= CLASS_LINEAR) {
        *rounded = units * CLASS_UNIT;
        return (int)units;
    }
    int power = 63 - __builtin_clzll((uint64_t)(units - 1)); // 2^power <= units - 1
    int64_t step = ((int64_t)1 << power) / CLASS_STEPS;
    int64_t steps = (units - ((int64_t)1 << power) + step - 1) / step; // 1..8
    *rounded = (((int64_t)1 << power) + steps * step) * CLASS_UNIT;
    int index = CLASS_LINEAR + (power - 3) * CLASS_STEPS + (int)steps;
    return index < STORAGE_CLASS_COUNT ? index : -1;
}

// ---- ledger ----------------------------------------------------------------------------------
Ledger *ledger_new(void) {
    Ledger *ledger = memory_new(sizeof(Ledger));
    if (!ledger) return NULL;
    const char *mode = getenv("RIDGEPOINT_ALLOC");
    ledger->raw = mode && strcmp(mode, "raw") == 0;
    ledger->references = 1;
    ledger->peak_site = -1;
    return ledger;
}

void ledger_trim(Ledger *ledger) {
    if (!ledger) return; // nothing was allocated yet
    for (int i = 0; i < STORAGE_CLASS_COUNT; i++) {
        for (Storage *s = ledger->free_storages[i]; s;) {
            Storage *next = s->next;
            if (s->data) s->device->release(s->device, s->data, (size_t)s->reserved);
            ledger->reserved_bytes -= s->reserved;
            ledger->cached_bytes -= s->reserved;
            memory_free(s);
            s = next;
        }
        ledger->free_storages[i] = NULL;
    }
}

void ledger_release(Ledger *ledger) {
    if (!ledger || --ledger->references > 0) return;
    ledger_trim(ledger);
    memory_free(ledger);
}

void ledger_reset_peak(Ledger *ledger) {
    if (!ledger) return;
    ledger->peak = ledger->live;
    ledger->peak_op = NULL;
    ledger->peak_site = -1;
    ledger->peak_phase = PHASE_FORWARD;
}

int64_t ledger_unaccounted(const Ledger *ledger) {
    if (!GIVEN(ledger)) return 0;
    return ledger->reserved_bytes - ledger->live_host_bytes - ledger->cached_bytes -
           ledger->rounding_bytes;
}

LedgerFree ledger_free_blocks(const Ledger *ledger) {
    if (!GIVEN(ledger)) return (LedgerFree){0};
    LedgerFree found = {0};
    for (int i = 1; i < STORAGE_CLASS_COUNT; i++)
        for (const Storage *s = ledger->free_storages[i]; s; s = s->next) {
            found.blocks++;
            found.bytes += s->reserved;
            if (s->reserved > found.largest) found.largest = s->reserved;
            found.squares += (double)s->reserved * (double)s->reserved;
        }
    return found;
}

static void note_peak(const Context *context, Ledger *ledger) {
    ledger->peak = ledger->live;
    ledger->peak_op = context->running;
    ledger->peak_site = context->site;
    ledger->peak_phase = (int)context->phase;
}

static void tell(const Context *context, const Storage *storage, int64_t delta) {
    for (Observer *o = context->observers; o; o = o->next)
        if (o->storage) o->storage(o, storage, delta);
}

// sign: 1 at allocation, -1 at release.
static inline void charge(const Context *context, const Storage *storage, int sign) {
    Ledger *ledger = storage->ledger;
    int64_t delta = sign * storage->bytes;
    ledger->live.category[storage->category] += delta;
    ledger->live.total += delta;
    ledger->live_storages += sign;
    if (storage->data) {
        ledger->live_host_bytes += delta;
        ledger->rounding_bytes += sign * (storage->reserved - storage->bytes);
    }
    if (sign > 0 && ledger->live.total > ledger->peak.total) note_peak(context, ledger);
    if (context->observers) tell(context, storage, delta);
}

// ---- storage ---------------------------------------------------------------------------------
// Takes the first free block of this device; with one device, the first of the list.
static Storage *take_free(Storage **list, const Device *device) {
    while (*list && device && (*list)->device != device) list = &(*list)->next;
    Storage *storage = *list;
    if (storage) *list = storage->next;
    return storage;
}

// Gets a header with data behind it: from the cache, else from the system, else, if the system has
// no more, from the system after emptying the cache.
static Storage *obtain(Ledger *ledger, Device *device, int64_t bytes) {
    int64_t reserved = bytes;
    bool classed = bytes > 0 && device->has_data && !device->uncached;
    int index = classed ? size_class(bytes, &reserved) : -1;
    if (bytes > INT64_MAX - ledger->live.total) return NULL; // more than any device has
    if (!memory_request()) return NULL;
    if (index >= 0 && !ledger->raw) {
        Storage *cached = take_free(&ledger->free_storages[index], device);
        if (cached) {
            ledger->cached_bytes -= cached->reserved;
            return cached;
        }
    }
    Storage *storage = ledger->raw ? NULL : take_free(&ledger->free_storages[0], NULL);
    if (!storage) storage = memory_new(sizeof(Storage));
    if (!storage) return NULL;
    storage->device = device;
    storage->data = NULL;
    storage->size_class = index;
    storage->reserved = 0;
    if (bytes == 0 || !device->has_data) return storage;
    if (ledger->raw) reserved = bytes; // lets a checker see every byte beyond the request
    storage->data = device->allocate(device, (size_t)reserved);
    if (!storage->data) {
        ledger_trim(ledger);
        storage->data = device->allocate(device, (size_t)reserved);
    }
    if (!storage->data) {
        memory_free(storage);
        return NULL;
    }
    storage->reserved = reserved;
    ledger->reserved_bytes += reserved;
    return storage;
}

static void link_live(Ledger *ledger, Storage *storage) {
    storage->previous = NULL;
    storage->next = ledger->first_live;
    if (storage->next) storage->next->previous = storage;
    ledger->first_live = storage;
}

static void unlink_live(Ledger *ledger, Storage *storage) {
    if (storage->next) storage->next->previous = storage->previous;
    if (storage->previous)
        storage->previous->next = storage->next;
    else
        ledger->first_live = storage->next;
}

// ---- exhausted -------------------------------------------------------------------------------
enum { LARGEST = 3, EXHAUSTED_TEXT = 320 };

// Sums up the live storages on the device, and puts the largest first. Returns their number.
static int find_largest(const Ledger *ledger, const Device *device, int64_t *sum,
                        const Storage *largest[LARGEST]) {
    int n = 0;
    *sum = 0;
    for (const Storage *s = ledger->first_live; s; s = s->next) {
        if (s->device != device || s->bytes == 0) continue;
        *sum += s->bytes;
        int at = n < LARGEST ? n++ : LARGEST;
        for (; at > 0 && largest[at - 1]->bytes < s->bytes; at--)
            if (at < LARGEST) largest[at] = largest[at - 1];
        if (at < LARGEST) largest[at] = s;
    }
    return n;
}

// ", 1024 of 4096 free; largest: 2048 activation in fc1, 512 data in (model)", as far as known. The
// text fits for any figures.
static void describe_memory(const Context *context, Device *device, const Storage *const largest[],
                            int n, char text[EXHAUSTED_TEXT]) {
    DeviceMemory memory;
    int used = 0;
    text[0] = '\0';
    if (device->memory && device->memory(device, &memory) == STATUS_OK)
        used = snprintf(text, EXHAUSTED_TEXT, ", %lld of %lld free", (long long)memory.free,
                        (long long)memory.total);
    error_clear(); // drops errors of this query; the message is about memory
    for (int i = 0; i < n; i++) {
        char path[48];
        site_path(context, largest[i]->site, path, sizeof path);
        used += snprintf(text + used, (size_t)(EXHAUSTED_TEXT - used), "%s%lld %s in %s",
                         i ? ", " : "; largest: ", (long long)largest[i]->bytes,
                         memory_category_name(largest[i]->category), path);
    }
}

static void say_exhausted(const Context *context, Device *device, int64_t bytes, int64_t cached) {
    const Storage *largest[LARGEST];
    char text[EXHAUSTED_TEXT];
    int64_t live;
    int n = find_largest(context->ledger, device, &live, largest);
    describe_memory(context, device, largest, n, text);
    error_set(STATUS_OUT_OF_MEMORY,
              "%s: %s memory exhausted: %lld bytes asked, %lld live, %lld cached and given back%s. "
              "HINT: a smaller batch or model",
              context->running ? context->running : "tensor", device->name, (long long)bytes,
              (long long)live, (long long)cached, text);
}

Ledger *context_ledger(void) {
    Context *context = context_current();
    if (!context->ledger) context->ledger = ledger_new();
    return context->ledger;
}

Storage *storage_new(Device *device, int64_t bytes, MemoryCategory category) {
    Context *context = context_current();
    if (!device) error_set(STATUS_INVALID_ARGUMENT, "storage_new: no device");
    Ledger *ledger = device ? context_ledger() : NULL;
    if (!ledger) return NULL;
    int64_t cached = ledger->cached_bytes;
    Storage *storage = obtain(ledger, device, bytes);
    if (!storage) {
        if (!error_pending()) say_exhausted(context, device, bytes, cached);
        return NULL;
    }
    storage->references = 1;
    storage->saves = 0;
    storage->saver = NULL;
    storage->version = 0;
    storage->category = category;
    storage->site = context->site;
    storage->phase = (int)context->phase;
    storage->bytes = bytes;
    storage->ledger = ledger;
    ledger->references++;
    link_live(ledger, storage);
    charge(context, storage, 1);
    return storage;
}

void storage_release(Storage *storage) {
    if (!storage || --storage->references > 0) return;
    Ledger *ledger = storage->ledger;
    charge(context_current(), storage, -1);
    unlink_live(ledger, storage);
    if (ledger->raw || (storage->data && storage->size_class < 0)) {
        if (storage->data) {
            storage->device->release(storage->device, storage->data, (size_t)storage->reserved);
            ledger->reserved_bytes -= storage->reserved;
        }
        memory_free(storage);
    } else {
        Storage **list = &ledger->free_storages[storage->data ? storage->size_class : 0];
        ledger->cached_bytes += storage->reserved;
        storage->next = *list;
        *list = storage;
    }
    ledger_release(ledger);
}
