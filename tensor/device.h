// device.h -- a device is a table of functions; the CPU and meta tables live in cpu.c and meta.c.
// The GPU is one more table, provided by a plug-in (cuda/).
// Threads: all threads share a device. cpu and meta have no state; cuda takes one caller at a time.
#ifndef TENSOR_DEVICE_H
#define TENSOR_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tensor/status.h"

RIDGEPOINT_API_BEGIN

struct OpCall;

// Memory of a card, in bytes; the ledger cannot know these figures.
typedef struct DeviceMemory {
    int64_t total, free; // of the card; others may use the rest
    int64_t own;         // kept by the device for itself: workspaces, scratch
    int64_t staging;     // host memory for copies
    int64_t cache;       // last-level cache of the card, for its roofline; 0: not known
} DeviceMemory;

// Must outlive every ledger that holds its memory: freed blocks stay cached with their device.
typedef struct Device {
    const char *name; // "cpu", "meta"
    bool has_data;    // false on meta: shapes, costs and bytes are real, values are absent
    bool on_host;     // tensor_data may hand out the pointer
    bool uncached;    // free blocks are not cached: each storage is its own allocation
    void *(*allocate)(struct Device *self, size_t bytes); // NULL when exhausted
    void (*release)(struct Device *self, void *data, size_t bytes);
    // Runs the kernel of call->op for its dtype. A missing kernel gives STATUS_NOT_IMPLEMENTED with
    // op and device, never a silent copy to another device, which would falsify the profile.
    Status (*run)(struct Device *self, const struct OpCall *call);
    // Temporary bytes that the kernel needs: depends on the device and its threads, not on the op's
    // cost. Called for ops with OP_WORKSPACE; dispatch passes the memory in call->workspace.
    int64_t (*workspace)(struct Device *self, const struct OpCall *call);
    Status (*from_host)(struct Device *self, void *to, const void *from, size_t bytes);
    Status (*to_host)(struct Device *self, void *to, const void *from, size_t bytes);
    // Waits until all launched work is done; NULL where run returns only after the kernel.
    Status (*synchronize)(struct Device *self);

    // ---- optional, for devices with their own clock and memory; NULL on the host ----------------
    // The key of its stored ceilings: model, then, after commas, unique number and versions.
    const char *identity;
    // Time stamps behind the queued work, without waiting for it. Reserve first: afterwards stamp()
    // takes indices [0, count) and allocates nothing; earlier stamps are lost.
    Status (*stamps_reserve)(struct Device *self, int64_t count);
    Status (*stamp)(struct Device *self, int64_t index);
    // Waits once for all stamps [0, count), then gives their times in nanoseconds of
    // tensor/clock.h. One pair of readings converts all, so differences are the device's own.
    Status (*stamps_read)(struct Device *self, int64_t count, int64_t *nanoseconds);
    // Delays all work launched from now on by so many nanoseconds. It queues up, so stamps around
    // it measure the device and not the launching.
    Status (*hold)(struct Device *self, int64_t nanoseconds);
    Status (*memory)(struct Device *self, DeviceMemory *memory);
} Device;

static inline bool device_has_stamps(const Device *device) {
    return device && device->stamp != NULL;
}

// Waits for asynchronous work, if the device has any; call it before reading a clock. NULL is fine:
// there is nothing to wait for.
static inline Status device_synchronize(Device *device) {
    return device && device->synchronize ? device->synchronize(device) : STATUS_OK;
}

// Copy between host memory and a device's, and notify the current context's observers; only these
// two use the table's slots. To the host: the bytes are there at return. From the host: `from` may
// be reused at return.
Status device_from_host(Device *device, void *to, const void *from, size_t bytes);
Status device_to_host(Device *device, void *to, const void *from, size_t bytes);

Device *device_cpu(void);
Device *device_meta(void);
Device *device_by_name(const char *name); // NULL: no such device; sets no error

RIDGEPOINT_API_END

#endif
