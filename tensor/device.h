// device.h -- a device is a table of functions; the CPU and meta tables live in cpu.c and meta.c.
// The GPU is one more entry, handed over by a plug-in (cuda/).
// Threads: a device is everybody's. cpu and meta keep nothing; cuda has callers take turns.
#ifndef TENSOR_DEVICE_H
#define TENSOR_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tensor/status.h"

RIDGEPOINT_API_BEGIN

struct OpCall;

// A card's own memory, in bytes: what the ledger cannot know.
typedef struct DeviceMemory {
    int64_t total, free; // of the card, whoever uses the rest
    int64_t own;         // what the device keeps for itself: workspaces, scratch
    int64_t staging;     // on the host, for copies
    int64_t cache;       // of the card: its last cache, as its roofline needs it; 0: not known
} DeviceMemory;

// Outlives every ledger that holds its memory: freed blocks wait in the cache with their device.
typedef struct Device {
    const char *name; // "cpu", "meta"
    bool has_data;    // false on meta: shapes, costs and bytes are real, values are absent
    bool on_host;     // tensor_data may hand out the pointer
    bool uncached;    // free blocks are not kept: each storage is an allocation of its own
    void *(*allocate)(struct Device *self, size_t bytes); // NULL when exhausted
    void (*release)(struct Device *self, void *data, size_t bytes);
    // Runs the kernel of call->op for its dtype. A missing one is STATUS_NOT_IMPLEMENTED naming op
    // and device, never a silent copy to another device, which would falsify the profile.
    Status (*run)(struct Device *self, const struct OpCall *call);
    // Temporary bytes the kernel takes: the device's answer for its thread count, not the op's
    // cost. Asked of an op with OP_WORKSPACE; dispatch hands them over in call->workspace.
    int64_t (*workspace)(struct Device *self, const struct OpCall *call);
    Status (*from_host)(struct Device *self, void *to, const void *from, size_t bytes);
    Status (*to_host)(struct Device *self, void *to, const void *from, size_t bytes);
    // Waits until all that was launched is over; NULL where a kernel is over when run returns.
    Status (*synchronize)(struct Device *self);

    // ---- optional: what a device with a time and memory of its own knows; NULL on the host ------
    // What its ceilings are kept under: model, then, after commas, unique number and versions.
    const char *identity;
    // Time stamps behind the work that is queued, without waiting for it. Reserve first: afterwards
    // stamp() takes indices [0, count) and allocates nothing; what was stamped before is forgotten.
    Status (*stamps_reserve)(struct Device *self, int64_t count);
    Status (*stamp)(struct Device *self, int64_t index);
    // Waits once for all of them. When the device passed stamps [0, count), in nanoseconds of
    // tensor/clock.h, all from one pair of readings: differences are the device's own.
    Status (*stamps_read)(struct Device *self, int64_t count, int64_t *nanoseconds);
    // What is launched from now on begins after so many nanoseconds at the earliest: it queues up,
    // so that stamps around it tell what the device took, and not what launching it did.
    Status (*hold)(struct Device *self, int64_t nanoseconds);
    Status (*memory)(struct Device *self, DeviceMemory *memory);
} Device;

static inline bool device_has_stamps(const Device *device) {
    return device && device->stamp != NULL;
}

// Waits for what runs behind the caller's back, if the device does that: before reading a clock.
// NULL is fine: there is nothing to wait for.
static inline Status device_synchronize(Device *device) {
    return device && device->synchronize ? device->synchronize(device) : STATUS_OK;
}

// Copies between the program's memory and a device's, told to the current context's observers; the
// table's own slots are for these two. To the host: the bytes are there at return. From the host:
// `from` may be written to again at return.
Status device_from_host(Device *device, void *to, const void *from, size_t bytes);
Status device_to_host(Device *device, void *to, const void *from, size_t bytes);

Device *device_cpu(void);
Device *device_meta(void);
Device *device_by_name(const char *name); // NULL when there is none of that name; no error is set

RIDGEPOINT_API_END

#endif
